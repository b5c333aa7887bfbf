"""JMH beside the driver of the JVM: its results are read, and each turn has a ratio."""

from __future__ import annotations

import pytest

import record_stores
from adapter_core.records.maven import MavenModule
from tools import jmh
from tools.jmh import Comparison, Cost, Setting

RESULT = {
    "primaryMetric": {"scoreUnit": "s/op", "rawData": [[0.5, 0.4, 0.3]]},
    "secondaryMetrics": {
        "\u00b7cpuSeconds": {"rawData": [[4.0, 2.0, 6.0]]},
        "calls": {"rawData": [[10.0, 10.0, 10.0]]},
    },
}


def test_a_result_of_jmh_is_the_median_of_its_iterations():
    assert jmh.cost_of(RESULT) == Cost(cpu=0.4, wall=0.4)


def test_another_unit_is_refused():
    other = RESULT | {"primaryMetric": {"scoreUnit": "ms/op", "rawData": [[1.0]]}}
    with pytest.raises(ValueError, match="the unit of JMH is ms/op, not s/op"):
        jmh.cost_of(other)


def test_ratios_are_those_of_each_turn():
    driver = [Cost(0.2, 0.3), Cost(0.4, 0.6), Cost(0.3, 0.3)]
    of_jmh = [Cost(0.1, 0.3), Cost(0.4, 0.5), Cost(0.2, 0.3)]
    label, call, *cells = Comparison("Kryo[jvm]", "read", driver, of_jmh).cells
    assert (label, call) == ("Kryo[jvm]", "read")
    assert cells == ["300.0", "200.0", "1.50", "1.00 to 2.00", "1.00", "1.00 to 1.20"]


@pytest.mark.jvm
@pytest.mark.nightly
@pytest.mark.parametrize("operation", jmh.OPERATIONS)
def test_both_sides_make_each_call(operation, tmp_path):
    for answer in (record_stores.jvm.availability(), record_stores.jvm.toolchain()):
        if not answer:
            pytest.skip(answer.reason)
    jars = MavenModule(record_stores.jvm.folder, "jmh").build()
    setting = Setting(tmp_path, rows=2_000, warm_up_seconds=0.5, iteration_seconds=0.1)
    found = jmh.compared(jars, record_stores.get("Kryo[jvm]"), operation, setting, turns=1)
    # Of 2,000 records: far from seconds, and more than nothing.
    for side in (found.driver, found.jmh):
        assert 1e-5 < side[0].cpu < 0.5
