"""Scripts that measure a cell again: every format with code to paste fits a screen."""

from __future__ import annotations

import numpy as np
import pytest

from adapter_core import ArraySource
from adapter_core.errors import UnsupportedError
from adapter_core.snippets import Snippet
from format_bench.recommendation.script import LONGEST, script_of, why_none
from format_bench.results.suites import FAMILIES
from tests.factories.records import record
from tests.factories.snippets import PACKAGES

CASES = [
    (family, label)
    for family, package in PACKAGES.items()
    for label in package.registry.names()
    if isinstance(package.registry.find(label).snippet, Snippet)
]

ARRAY = ArraySource.of(np.zeros((4, 8, 8), "float32"), (2, 8, 8))


def script(family, label, metric, **facts):
    suite = FAMILIES[family].suites[0].name
    cell = record(label, metric, 0.5, suite=suite, **facts)
    return script_of(cell, "a cell", "a command", ARRAY if family == "arrays" else None, "0" * 64)


@pytest.mark.parametrize("metric", ["size", "save time", "read time"])
def test_scripts_fit_a_screen_and_are_python(metric):
    refused = {}
    for family, label in CASES:
        try:
            text = script(family, label, metric)
        except UnsupportedError as error:
            refused[family, label] = str(error)
            continue
        assert text.count("\n") <= LONGEST
        compile(text, label, "exec")
        assert "format_bench" not in text.replace("format-bench", "")
    assert all("shards" in reason for reason in refused.values()), refused


def test_tables_go_through_the_libraries_own_within_the_clock():
    text = script("tables", "Parquet[polars]", "read time")
    assert "    df = pl.DataFrame(pa.Table.from_pandas(df, preserve_index=False))\n" in text
    assert "    return df.to_arrow().to_pandas()\n" in text
    assert 'timeit.repeat("found = read()", "pass", number=1, repeat=' in text


def test_cpu_times_have_the_clock_of_the_process():
    text = script("tables", "Pickle", "save CPU time", repeats=[0.1, 0.2])
    assert "timer=time.process_time, number=1, repeat=3, " in text


@pytest.mark.parametrize(
    ("metric", "facts", "reason"),
    [
        ("read memory", {}, "the cell is of read memory"),
        ("read time", {"cache": "cold"}, "scripts read warm files"),
        ("read time", {"threads": "1"}, "measured on 1 thread"),
        ("size", {"medium": "tmpfs"}, "under medium tmpfs"),
    ],
)
def test_other_cells_have_a_reason(metric, facts, reason):
    assert reason in why_none(record("CSV", metric, 1.0, **facts))


def test_a_cell_without_a_value_has_its_own_reason():
    assert why_none(record("CSV", "size", None, sentence="no space")) == (
        "it has no value: failed: no space"
    )
