"""Samples of a cell of a suite, shared by its benchmarks."""

from __future__ import annotations

import json
import statistics
import time
from dataclasses import replace

import pytest

from adapter_core import CannotHoldError
from benchmarks import _suites
from format_bench.asv_support import KEPT_VARIABLE
from format_bench.asv_support import cell as asv_cell
from format_bench.asv_support.cell import CellRun
from format_bench.asv_support.rounds import CLOCK_TIME, Round
from format_bench.asv_support.run import DATA, prepare_data, rounds_file
from format_bench.automation.monthly.results import HOURS_SPENT
from format_bench.families import measuring
from format_bench.families.operations import Operations
from format_bench.instruments import page_cache
from format_bench.instruments.clock import Effort
from format_bench.results.metrics import METRICS
from format_bench.results.status import CellStatus
from format_bench.results.suites import FAMILIES, SUITES

EFFORT = Effort(0.05, min_repeats=3)
TABLES = FAMILIES["tables"]


@pytest.fixture
def suite(tmp_path, monkeypatch):
    """Return the suite of tables, in a run that has just started."""
    monkeypatch.chdir(tmp_path)
    # Each process of asv has a cell of its own, so its time limit counts from the start of the process.
    asv_cell._process_start.cache_clear()
    small = replace(SUITES["tabular"], datasets=("eq",), sizes={"tiny": 50})
    prepare_data(TABLES, small, "tiny")
    yield small
    asv_cell._load.cache_clear()


def samples(suite, benchmark, metric, cache=None, label="CSV"):
    """Return the samples that a process of asv gets."""
    params = (label, "eq", *([cache] if cache else []))
    return CellRun(TABLES, suite, benchmark, params, "tiny", 600).samples(metric, cache, EFFORT)


def saves(suite):
    return (
        samples(suite, "Tabular", "save time"),
        samples(suite, "Tabular", "durable save time"),
    )


def test_plain_and_durable_saves_are_the_same_calls(suite):
    plain, durable = saves(suite)
    assert len(plain) == len(durable) >= 2
    assert all(one < other for one, other in zip(plain, durable, strict=True))


def test_each_process_notes_its_time_on_the_clock(suite):
    saved = [sum(saves(suite)[1]) for _ in range(2)]
    read = samples(suite, "TabularRead", "read time", "warm")
    file = rounds_file("tiny")
    lines = [json.loads(line) for line in file.path.read_text().splitlines()]
    noted = [each for each in lines if each["metric"] == CLOCK_TIME]
    assert [each["params"][2:] for each in noted] == [
        ["save", "0"],
        ["save", "1"],
        ["warm", "read", "0"],
    ]
    *of_saves, of_read = (each["rounds"][0][0] for each in noted)
    assert all(clocked >= kept for clocked, kept in zip(of_saves, saved, strict=True))
    assert of_read > sum(read)
    assert file.read().seconds_on_clock("tabular") == pytest.approx(sum(of_saves) + of_read)


def test_a_read_without_a_kept_file_saves_it_in_another_process(suite, monkeypatch):
    def fail(*_):
        raise AssertionError("the process that reads has saved")

    monkeypatch.setattr(Operations, "save", fail)
    assert samples(suite, "TabularRead", "read time", "warm")
    assert len(list(asv_cell.FILES.glob("eq-CSV-kept*"))) == 1


def test_an_error_of_the_check_is_the_reason_of_the_cell(suite, monkeypatch):
    def fail(*_):
        raise ValueError("no type of column x")

    monkeypatch.setattr(Operations, "check", fail)
    with pytest.raises(ValueError, match="no type"):
        samples(suite, "Tabular", "save time")
    (reason,) = CellRun(TABLES, suite, "Tabular", ("CSV", "eq"), "tiny", 600).journal.read()
    assert reason.sentence == "ValueError: no type of column x"


def test_each_round_has_samples_of_a_process_of_its_own(suite):
    first, second = saves(suite), saves(suite)
    assert first[0] != second[0]
    assert first[1] != second[1]
    assert len(samples(suite, "Tabular", "size")) == 1


def test_a_read_is_measured_once_for_all_benchmarks_that_report_it(suite, monkeypatch):
    runs = []
    measure = measuring.measure_steps
    monkeypatch.setattr(asv_cell, "measure_steps", lambda *given: runs.append(1) or measure(*given))
    warm = samples(suite, "TabularRead", "read time", "warm")
    cold = samples(suite, "TabularRead", "read time", "cold")
    assert len(warm) == len(cold)
    assert samples(suite, "TabularLoad", "lost columns") == [0]
    assert samples(suite, "TabularLoad", "read memory")[0] > 0
    assert runs == [1]


def test_a_refused_cell_imports_no_library_for_its_further_metrics(suite, monkeypatch):
    def refuse(*_):
        raise CannotHoldError("it holds no such table")

    monkeypatch.setattr(Operations, "check", refuse)
    starts = []
    start = CellRun.start
    monkeypatch.setattr(CellRun, "start", lambda own: starts.append(1) or start(own))
    for metric in ("save time", "size"):
        with pytest.raises(NotImplementedError, match="it holds no such table"):
            samples(suite, "Tabular", metric)
    assert starts == [1]


def test_the_librarys_defaults_have_a_file_of_their_own(suite):
    found = {}
    for name, metric, settings in (
        ("Tabular", "size", ""),
        ("TabularDefaults", "size", "defaults"),
        ("TabularDefaultsRead", "read time", "defaults"),
    ):
        params = ("Parquet", "eq", *(["warm"] if metric == "read time" else []))
        cell = CellRun(TABLES, suite, name, params, "tiny", 600, settings=settings)
        assert cell.samples(metric, "warm" if metric == "read time" else None, EFFORT)
        found[name] = (cell._kept.name, cell.operations.adapter.codec_used(cell._kept))
    assert found["Tabular"] == ("eq-Parquet-kept.parquet", None)
    # The read takes the file that the save has left.
    own = ("eq-Parquet-defaults-kept.parquet", "snappy")
    assert found["TabularDefaults"] == found["TabularDefaultsRead"] == own


def test_a_value_of_asvs_last_round_is_of_all_processes(suite):
    first = samples(suite, "Tabular", "save memory")
    run = CellRun(TABLES, suite, "Tabular", ("CSV", "eq"), "tiny", 600)
    both = run.all_samples("save memory", None, EFFORT, rounds=2)
    assert both[:1] == first
    assert len(both) == 2
    # The second benchmark of the cell finds both processes' samples, and measures nothing.
    assert len(run.all_samples("size", None, EFFORT, rounds=2)) == 2
    assert len(run._rounds(TABLES.steps[0])) == 2


def test_peaks_of_processes_are_those_of_the_measuring_ones(suite):
    grown = samples(suite, "Tabular", "save memory")
    run = CellRun(TABLES, suite, "Tabular", ("CSV", "eq"), "tiny", 600)
    peaks = run.all_samples("save peak memory", None, EFFORT, rounds=1)
    assert len(run._rounds(TABLES.steps[0])) == len(peaks) == 1
    # Interpreter and libraries count too.
    assert peaks[0] > grown[0] + 20_000_000


def test_samples_of_each_process_are_beside_the_results(suite):
    first, second = (samples(suite, "Tabular", "save time") for _ in range(2))
    run = CellRun(TABLES, suite, "Tabular", ("CSV", "eq"), "tiny", 600)
    memory = run.all_samples("save memory", None, EFFORT, rounds=2)
    found = run.rounds_file.read()
    cell = ("tabular.Tabular", ("CSV", "eq"))
    both = found.of_cell(*cell, "save time", 1.0, first + second)
    assert [each.repeats for each in both] == [first, second]
    # CPU times of the calls, and of the reference loop beside them.
    assert all(len(each.repeats) == len(each.cpu) == len(each.loop) for each in both)
    assert all(seconds > 0 for each in both for seconds in each.loop)
    assert [each.repeats for each in found.of_cell(*cell, "save time", 1.0, second)] == [second]
    assert found.of_cell(*cell, "save time", 1.0, second + first) == []
    middle = statistics.median(memory)
    of_memory = found.of_cell(*cell, "save memory", middle, None)
    assert of_memory == [Round([each]) for each in memory]
    assert found.of_cell(*cell, "save memory", middle + 1, None) == []


def test_warm_reads_remain_where_no_read_can_be_cold(suite, monkeypatch):
    def stays(path):
        raise page_cache.NotColdError(f"1 of 1 pages of {path.name} stay in the page cache")

    monkeypatch.setattr(page_cache, "make_cold", stays)
    assert samples(suite, "TabularRead", "read time", "warm")
    with pytest.raises(NotImplementedError, match="stay in the page cache"):
        samples(suite, "TabularRead", "read time", "cold")
    cell = CellRun(TABLES, suite, "TabularRead", ("CSV", "eq", "cold"), "tiny", 60)
    (reason,) = cell.journal.read()
    assert (reason.status, reason.suite) == (CellStatus.UNAVAILABLE, "tabular.TabularRead")


def test_a_save_that_fails_leaves_a_reason_and_no_file(suite, monkeypatch):
    import data_formats

    adapter = type(data_formats.registry.find("CSV"))

    def fail(_adapter, _df, path, *_):
        path.write_text("half")
        raise RuntimeError("the disk is made of cheese")

    monkeypatch.setattr(adapter, "save", fail)
    monkeypatch.setattr(asv_cell.CellRun, "start", started)
    with pytest.raises(RuntimeError, match="made of cheese"):
        samples(suite, "Tabular", "save time")
    assert list(asv_cell.FILES.iterdir()) == []
    cell = CellRun(TABLES, suite, "Tabular", ("CSV", "eq"), "tiny", 60)
    assert [each.sentence for each in cell.journal.read()] == [
        "RuntimeError: the disk is made of cheese"
    ]


def started(cell):
    """Start a cell without warming its adapter up."""
    import data_formats
    from format_bench.families.tables.operations import TableOperations

    cell.operations = TableOperations(data_formats.registry.get("CSV"))
    return cell.operations


def test_steps_begin_in_the_first_rounds_share_of_the_hours_and_go_on_after_it(suite, monkeypatch):
    monkeypatch.setattr(_suites, "SCALE", "tiny")
    in_rounds = replace(suite, sampling={"tiny": replace(suite.sampling["tiny"], rounds=3)})

    def measured(benchmark, metric, *params, of_all_rounds=False):
        state = _suites.MetricState(in_rounds, in_rounds.benchmark(benchmark), METRICS[metric])
        state.measure(params, of_all_rounds=of_all_rounds)
        return state.samples

    def spend(share):
        monkeypatch.setattr(_suites, "FIRST", time.time() - share * 3000)
        monkeypatch.setattr(_suites, "LAST", time.time() + (1 - share) * 3000)

    spend(0.3)
    assert measured("Tabular", "save time", "CSV", "eq")
    spend(0.4)
    assert measured("Tabular", "save time", "CSV", "eq")
    with pytest.raises(NotImplementedError, match=f"^{HOURS_SPENT} .* it comes first in the next one"):
        measured("TabularRead", "read time", "CSV", "eq", "warm")
    # The second of three rounds begins it until two thirds are spent, and so do those that follow.
    assert measured("TabularRead", "read time", "CSV", "eq", "warm")
    spend(0.7)
    for _ in range(2):
        with pytest.raises(NotImplementedError, match=HOURS_SPENT):
            measured("Tabular", "save time", "Pickle", "eq")
    assert measured("Tabular", "save time", "Pickle", "eq")
    # asv calls it in the last round, which has all that is left.
    assert measured("Tabular", "save memory", "Feather", "eq", of_all_rounds=True)
    spend(1.1)
    assert measured("Tabular", "save time", "CSV", "eq")


def test_runs_of_parts_of_a_suite_share_its_data(tmp_path, monkeypatch):
    monkeypatch.setenv(KEPT_VARIABLE, str(tmp_path / "kept"))
    small = replace(SUITES["tabular"], datasets=("eq",), sizes={"tiny": 50})
    times = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        prepare_data(TABLES, small, "tiny")
        times.append((DATA / "eq").stat().st_mtime_ns)
        (metadata,) = (tmp_path / name).glob("circumstances/*.jsonl")
        assert '"shapes": {"tabular.eq": [50, ' in metadata.read_text()
    assert times[0] == times[1]
    # A kill has cut the table off before its shape was noted.
    (DATA / "eq.shape").unlink()
    (DATA / "eq").write_bytes(b"")
    monkeypatch.chdir(tmp_path)
    prepare_data(TABLES, small, "tiny")
    assert (DATA / "eq").stat().st_size > 0
