"""Plan of a month: order, portions and hours of suites, by invented and by typical costs."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from pathlib import Path

import pytest

from format_bench import monthly
from format_bench.automation import asv_runs
from format_bench.automation.monthly import costs
from format_bench.automation.monthly.costs import Cost, room_watched, typical_bytes, typical_seconds
from format_bench.automation.monthly.plan import Portion, SuitePlan, sentences
from format_bench.automation.monthly.state import ExitStatus
from format_bench.network.trials import ROUND_TRIPS_MS, STEPS
from format_bench.results.suites import FAMILIES, SUITES
from tests.helpers import ROOT

HOUR = 3600.0


def plan(*earlier, suite="tabular"):
    return SuitePlan.of(suite, "full", ROOT, earlier)


def cost(month, seconds, *, is_whole=True, suite="tabular"):
    return Cost(month, suite, seconds, is_whole, 5 * 10**9, 10**9)


def test_formats_measured_longest_ago_come_first_then_the_fastest():
    labels = plan().labels
    assert sorted(labels) == sorted(SUITES["tabular"].labels(_declared()))
    assert labels[-1] == "Excel"
    assert labels.index("Feather") < labels.index("JSON")
    found = plan(
        cost("2026-10", dict.fromkeys(labels, 60.0)),
        cost("2026-11", dict.fromkeys(set(labels) - {"XML", "CSV"}, 60.0)),
        cost("2026-11", {"CSV": 30.0}, is_whole=False),
        cost("2026-11", {"XML": 1.0}, suite="compression"),
    )
    assert found.labels[:2] == ("CSV", "XML")
    assert (found.seconds["CSV"], found.seconds["XML"]) == (30.0, 60.0)
    assert found.source == "the costs of 2026-10 to 2026-11"


def _declared():
    from adapter_core.listing import declarations

    return declarations(ROOT / "data_formats")


def test_slow_formats_are_portions_of_their_own_and_fast_ones_share_one():
    names = plan().labels
    seconds = dict.fromkeys(names, 200.0) | {"Excel": 2 * HOUR, "XML": HOUR}
    found = plan(cost("2026-11", seconds)).portions()
    assert found[-2:] == [Portion(("XML",), HOUR), Portion(("Excel",), 2 * HOUR)]
    assert [len(each.labels) for each in found[:-2]] == [9, len(names) - 11]
    left = plan(cost("2026-11", seconds)).portions(done=[*names[:-1]])
    assert [each.labels for each in left] == [(names[-1],)]
    quick = SuitePlan.of("tabular", "quick", ROOT, ())
    assert [quick.is_all(each) for each in quick.portions()] == [True]


def test_what_does_not_fit_into_the_hours_is_left_out_but_the_first():
    names = plan().labels
    seconds = dict.fromkeys(names, 60.0) | {"Excel": 4.4 * HOUR, "XML": 9 * HOUR}
    known = [cost("2026-10", seconds), cost("2026-11", {name: 60.0 for name in names if name != "XML"})]
    found = plan(*known[:1])
    assert found.expected()[1] == ["Excel", "XML"]
    # What would take more than all hours is the first of the next month, and takes them.
    again = plan(*known)
    assert again.labels[0] == "XML"
    spent, left_out = again.expected()
    assert spent == SUITES["tabular"].month_hours * HOUR
    assert set(left_out) == set(names) - {"XML"}
    assert again.fits(again.portions()[0], 0.0)
    assert not again.fits(again.portions()[0], 1.0)


@pytest.mark.parametrize("scale", ["full", "quick"])
def test_every_suite_has_typical_costs(scale):
    plans = [SuitePlan.of(name, scale, ROOT, ()) for name in SUITES]
    *lines, in_all = sentences(plans)
    assert len(lines) == len(SUITES)
    assert all(" by typical costs" in line for line in lines)
    assert in_all.startswith("in all: ")
    for each in plans:
        assert each.expected()[0] > 0
        assert min(each.disk_bytes, each.memory_bytes) > 0
    # The thesis' suites take ten hours together at most.
    hours = sum(SUITES[name].month_hours for name in ("tabular", "compression", "image"))
    assert hours <= 10


def test_typical_costs_follow_sizes_and_repeats():
    suite = SUITES["tabular"]
    excel, feather = (typical_seconds(suite, label, "full") for label in ("Excel", "Feather"))
    assert 1 * HOUR < excel < 8 * HOUR
    assert feather < excel / 10
    larger = replace(suite, sizes={"full": 10 * suite.sizes["full"]})
    assert typical_seconds(larger, "Excel", "full") > 2 * excel
    short = replace(suite, sampling={"full": replace(suite.sampling["full"], rounds=1)})
    assert typical_seconds(short, "Excel", "full") == pytest.approx(excel / 2)
    # Smaller chunks, or longer rows, than the family's usual files have.
    slower = replace(suite, typical_factor=3.0)
    assert 2 * excel < typical_seconds(slower, "Excel", "full") < 3 * excel


def test_typical_costs_of_records_count_the_objects_beside_the_calls():
    suite = SUITES["records"]
    pickle = typical_seconds(suite, "Pickle", "full")
    assert pickle == pytest.approx(40 * 60, rel=0.25)  # as measured, see docs/monthly_run.md
    many_more = replace(suite, sizes={"full": 10 * suite.sizes["full"]})
    assert typical_seconds(many_more, "Pickle", "full") > 5 * pickle


def test_formats_that_make_an_object_of_each_value_take_memory():
    suite = SUITES["tabular"]
    largest = max(suite.raw_bytes(each, "full") for each in suite.datasets_at("full"))
    for portions, factor in (([["CSV", "Feather"]], 2), ([["CSV"], ["JSON", "Avro"]], 34), ([], 2)):
        assert typical_bytes(suite, portions, "full")[1] == factor * largest
    (disk, memory), (more, same) = (
        typical_bytes(suite, portions, "full") for portions in ([["XML"], ["CSV"]], [["XML", "CSV"]])
    )
    assert memory == same == 86 * largest
    assert more > disk
    assert typical_bytes(SUITES["analysis"], [["JSON[pandas]"]], "full")[1] > 5e9


def test_a_remote_step_counts_a_first_time_and_both_round_trips():
    calls = {
        step.calls for family in FAMILIES.values() for step in family.steps if step.name == "remote"
    }
    assert calls == {len(STEPS) * (1 + len(ROUND_TRIPS_MS))}


def test_costs_are_noted_beside_the_results_and_cut_lines_ignored(tmp_path, monkeypatch):
    one = cost("2026-11", {"CSV": 1.5})
    costs.note(tmp_path, one)
    (path,) = tmp_path.glob("costs/*.jsonl")
    with path.open("a", encoding="utf-8") as file:
        file.write('{"month": "2026-12", "sui')
    assert costs.noted(tmp_path) == [one]
    # A new machine takes the costs of others until it has its own.
    monkeypatch.setattr(costs.platform, "node", lambda: "another")
    assert costs.noted(tmp_path) == [one]
    costs.note(tmp_path, replace(one, month="2026-12"))
    assert [each.month for each in costs.noted(tmp_path)] == ["2026-12"]


def test_disk_and_memory_are_watched(monkeypatch):
    free = iter([(100, 50), (100, 50), (40, 45), (90, 20)])
    monkeypatch.setattr(costs, "_SAMPLE_SECONDS", 0.01)
    monkeypatch.setattr(costs, "_free", lambda: next(free, (100, 50)))
    with room_watched() as room:
        for _ in range(1_000):
            if room.memory_bytes == 30:
                break
            time.sleep(0.005)
    assert (room.disk_bytes, room.memory_bytes) == (60, 30)


def test_a_run_of_some_formats_measures_their_cells_alone(monkeypatch, tmp_path):
    commands = []

    def run(command, **options):
        commands.append((command, options["env"]["ADDED"]))
        return asv_runs.subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(asv_runs.subprocess, "run", run)
    labels, variables = ("CSV", "Parquet[polars]"), {"ADDED": "here"}
    asv_runs.run_suite("tabular", "abc", "c", root=tmp_path, labels=labels, variables=variables)
    ((command, added),) = commands
    chosen = command[command.index("--bench") + 1]
    assert added == "here"
    assert "--skip-existing-successful" not in command
    for name, is_measured in (
        ("tabular.Tabular.time_save('CSV', 'eq')", True),
        ("tabular.TabularRead.time_read('Parquet[polars]', 'eq', 'warm')", True),
        ("tabular.Tabular.time_save('CSV[polars]', 'eq')", False),
        ("tabular.Tabular.time_save('Parquet', 'eq')", False),
        ("compression.Compression.time_save('CSV', 'eq')", False),
    ):
        assert bool(re.search(chosen, name)) is is_measured, name


def test_a_full_disk_does_not_hide_the_status(monkeypatch):
    monkeypatch.setattr(monthly, "OUTCOME", Path("/dev/full"))
    with pytest.raises(SystemExit) as ended:
        monthly._end(ExitStatus.NO_ROOM, "no space left")
    assert ended.value.code == ExitStatus.NO_ROOM
