"""Changes found in histories with planted changes, and in histories without any."""

from __future__ import annotations

import re

import pytest
from asv.step_detect import detect_regressions, detect_steps

from format_bench.changes import changes_by_line, read_history
from format_bench.changes.change import sentence
from format_bench.results.status import CellStatus
from tests.factories.histories import MACHINE, Gap, MadeUp, MonthlyRepository, Planted, dates
from tests.factories.measured_histories import FAST, SLOW, measured
from tests.helpers import git

pytestmark = pytest.mark.slow

TABLES = ("tabular",)
SLOWER = Planted("Parquet", "time_read", 3, 1.31, library="pyarrow")


def history_of(folder, months, *planted, modules=TABLES, **made_of):
    made_up = MadeUp(planted=planted, modules=modules, **made_of)
    return read_history(made_up.write(folder / "made", months), folder / "made")


def line_of(folder, months, *planted, **made_of):
    return changes_by_line(history_of(folder, months, *planted, **made_of))[0]


def sentences(folder, months, *planted, **made_of):
    return [sentence(change) for change in line_of(folder, months, *planted, **made_of).changes]


def test_a_regression_is_named_with_its_month_its_library_and_all_its_data_sets(tmp_path):
    [found] = sentences(tmp_path, 6, SLOWER)
    assert re.fullmatch(
        r"Parquet read 1\.[23]\d times slower since 2026-08 \(pyarrow 15\.0\.0 -> 16\.0\.0; "
        r"\d other librar(?:y|ies) changed, too\), on (\d) of \1 data sets",
        found,
    )


def test_a_regression_in_the_newest_of_three_months_is_named(tmp_path):
    [found] = sentences(tmp_path, 3, SLOWER)
    assert re.match(r"Parquet read 1\.\d+ times slower since 2026-11 \(pyarrow", found)


def test_a_change_on_a_single_data_set_names_the_data_set(tmp_path):
    only = Planted("Parquet", "time_read", 4, 1.6, datasets=("str",))
    [found] = sentences(tmp_path, 8, only)
    assert re.search(r"slower since 2026-07 .*, on 1 of \d data sets \(str\)$", found)


def test_an_improvement_is_reported_too(tmp_path):
    line = line_of(tmp_path, 6, Planted("Feather", "time_save", 3, 0.6))
    [change] = line.changes
    assert sentence(change).startswith("Feather save 1.")
    assert (change.verb, change.is_improvement, change.since.name) == ("faster", True, "2026-08")


@pytest.mark.nightly
def test_twenty_histories_with_nothing_planted_have_at_most_one_change(tmp_path):
    named = [
        found
        for seed in range(20)
        for found in sentences(tmp_path / str(seed), 3 + seed % 3, seed=seed, modules=TABLES)
    ]
    assert len(named) <= 1, named


def test_memory_is_judged_over_all_data_sets_since_single_cells_flip(tmp_path):
    found = sentences(
        tmp_path,
        8,
        Planted("Feather", "track_held_memory", 5, 1.5),
        Planted("ORC", "track_held_memory", 5, 1.5, datasets=("str",)),
    )
    assert len(found) == 1
    assert re.match(r"Feather held memory 1\.\d+ times larger since 2026-08 ", found[0])


def test_a_drift_is_reported_that_asv_does_not_find(tmp_path):
    slowly = Planted("Parquet", "time_read", 2, 1.3, gradual=True)
    line = line_of(tmp_path, 12, slowly)
    [change] = line.changes
    assert re.match(
        r"Parquet read 1\.\d+ times slower little by little from 2025-12 to 2026-11", sentence(change)
    )
    drifting = [
        [cell.value for cell in each.cells]
        for each in line.series
        if (each.group.format, each.group.operation.name) == ("Parquet", "read")
    ]
    named = [bool(detect_regressions(detect_steps(values), 0.05)[0]) for values in drifting]
    assert 5 * sum(named) <= len(named)


def test_a_drift_keeps_its_identity_as_it_goes_on(tmp_path):
    slowly = Planted("Parquet", "time_read", 2, 1.5, gradual=True)
    history = history_of(tmp_path, 9, slowly)
    ids = [change.identity for change in changes_by_line(history)[0].changes]
    del history.lines[0].points[-1]
    changes_by_line.cache_clear()
    assert ids == [change.identity for change in changes_by_line(history)[0].changes]


def test_sizes_losses_and_counts_are_reported_from_the_first_difference(tmp_path):
    found = sentences(
        tmp_path,
        3,
        Planted("ORC", "track_size", 3, 1.02),
        Planted("CSV", "track_lost_columns", 2, 2, datasets=("eq",)),
        Planted("Avro", "track_size", 3, 1.001),
    )
    assert len(found) == 2
    assert found[0].startswith("ORC size 1.02 times larger since 2026-11 (")
    assert re.match(r"CSV lost columns: 0 -> 2 since 2026-10 .*, on 1 of \d data sets \(eq\)$", found[1])


def test_a_failure_is_reported_once_with_its_reason_and_so_is_its_end(tmp_path):
    line = line_of(tmp_path, 4, Planted("XML", "", 3, gap=Gap(CellStatus.FAILED, "OSError: no")))
    [lost] = line.changes
    assert re.fullmatch(
        r"XML failed since 2026-10 \(.*\), in \d+ cells on eq, int, float and \d others: OSError: no",
        sentence(lost),
    )
    history = read_history(tmp_path / "made/.asv/full/results", tmp_path / "made")
    history.lines[0].points.reverse()
    [gained] = changes_by_line(history)[0].changes
    assert re.match(r"XML has values since .*; before: failed, OSError: no$", sentence(gained))


def test_a_change_in_a_single_process_is_suspected_until_confirmed(tmp_path):
    twice = Planted("LMDB", "track_random_read", 6, 3.0, module="image")
    once = line_of(tmp_path, 6, twice, modules=("image",))
    assert not once.changes
    assert [change.subject for change in once.suspected] == ["LMDB (images) random read"]
    assert "seen by one process so far" in sentence(once.suspected[0])
    again = line_of(tmp_path / "again", 7, twice, modules=("image",))
    assert [change.subject for change in again.changes] == ["LMDB (images) random read"]
    assert "LMDB (images) random read" not in {change.subject for change in again.suspected}


def test_a_slower_machine_is_not_a_regression_of_any_format(tmp_path):
    line = line_of(tmp_path, 6, Planted("", "time", 5, 1.5))
    assert not line.changes
    assert {(shift.point.name, shift.operation) for shift in line.common_shifts} == {
        (month, operation) for month in ("2026-10", "2026-11") for operation in ("save", "read")
    }


def test_a_change_beside_a_shift_of_all_formats_is_named_without_it(tmp_path):
    faster = Planted("", "time", 5, 1 / 1.3)
    line = line_of(tmp_path, 8, faster, Planted("Parquet", "time_read", 5, 1.2))
    [change] = line.changes
    assert re.match(
        r"Parquet read 1\.[12]\d times slower beside all formats, which are 1\.[23]\d times faster, "
        r"since 2026-08 \(",
        sentence(change),
    )
    assert change.ratio > 1
    assert not change.is_improvement


def test_a_regression_is_named_beside_an_improvement_of_its_group(tmp_path):
    faster = Planted("Parquet", "time_read", 5, 0.7)
    found = sentences(tmp_path, 8, faster, Planted("Parquet", "time_read", 5, 4.0, datasets=("str",)))
    assert [re.search("faster|slower", each)[0] for each in sorted(found)] == ["faster", "slower"]
    assert any(re.search(r"slower since .*, on 1 of \d data sets \(str\)$", each) for each in found)


def test_data_sets_without_values_are_not_counted(tmp_path):
    lacking = Gap(CellStatus.UNSUPPORTED, "no")
    [found] = sentences(
        tmp_path,
        3,
        Planted("ORC", "track_size", 3, 1.02),
        Planted("ORC", "track_size", 1, gap=lacking, datasets=("eq", "str")),
    )
    assert re.search(r", on (\d) of \1 data sets$", found)


def test_another_machine_is_not_compared(tmp_path):
    MadeUp(modules=TABLES).write(tmp_path / "made", 4)
    slow = {**MACHINE, "machine": "slow", "cpu": "Old CPU"}
    everything = Planted("", "time", 1, 3.0)
    made_up = MadeUp(modules=TABLES, machine=slow, planted=(everything,))
    history = read_history(made_up.write(tmp_path / "made", 2), tmp_path / "made")
    found = changes_by_line(history)
    assert {(each.line.machine, len(each.line.points)) for each in found} == {("slow", 2), ("tester", 4)}
    assert not any(each.changes for each in found)


def test_the_same_name_on_other_hardware_is_another_machine(tmp_path):
    MadeUp(modules=TABLES).write(tmp_path / "made", 3)
    made_up = MadeUp(modules=TABLES, machine={**MACHINE, "ram": "8"})
    history = read_history(made_up.write(tmp_path / "made", 3), tmp_path / "made")
    assert [len(line.points) for line in history.lines] == [3, 3]


def test_recorded_versions_are_used_where_the_commit_is_missing(tmp_path):
    made_up = MadeUp(modules=TABLES, planted=(SLOWER,))
    results = made_up.write(tmp_path / "made", 3)
    git(tmp_path, "init", "--quiet", "elsewhere")
    known = read_history(results, tmp_path / "made").lines[0].points
    recorded = read_history(results, tmp_path / "elsewhere").lines[0].points
    assert [point.libraries for point in known] == [point.libraries for point in recorded]
    assert known[-1].libraries["pyarrow"] == "16.0.0"


def test_two_commits_of_a_month_have_names_of_their_own(tmp_path):
    repository = MonthlyRepository(tmp_path / "made", [])
    days = [dates(1)[0].replace(day=day) for day in (3, 17)]
    for day in days:
        repository.add(repository.renew(day, {"pandas": f"3.0.{day.day}"}), day, lambda *_: [])
    points = read_history(repository.results_dir, tmp_path / "made").lines[0].points
    assert [point.name for point in points] == ["2026-11-03", "2026-11-17"]


def test_a_slower_library_is_found_in_really_measured_times(tmp_path):
    found = measured(tmp_path / "measured", [FAST, FAST, SLOW, SLOW])
    assert [
        (change.subject, change.verb, change.since.name, str(*change.own_steps))
        for change in found.changes
    ] == [("Toy read", "slower", "2026-10", f"toylib {FAST} -> {SLOW}")]
