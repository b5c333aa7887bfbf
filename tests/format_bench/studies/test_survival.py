"""The study of survival: states after faults, verdicts on writers, results and page."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from adapter_core.errors import UnknownNameError, UnsupportedError
from format_bench.cli.main import format_bench
from format_bench.instruments import isolation
from format_bench.instruments.file_calls import FileCall, Kind
from format_bench.results.load import load
from format_bench.results.study_rows import read
from format_bench.runner.shards import merge
from format_bench.studies.surviving.disk import Disk
from format_bench.studies.surviving.interruptions import SURVIVAL
from format_bench.studies.surviving.moments import END, SECTOR_BYTES, Fault, spread, states
from format_bench.studies.surviving.parts import arranged, is_part
from format_bench.studies.surviving.survivors import FORM, SurvivalRow
from format_bench.studies.surviving.trials import Finding, prepare, run_trials
from format_bench.studies.surviving.ways import Change, Renamed, Way
from tests.commands import run
from tests.factories.toy_writers import operating, store_numbers

ROWS = 8

OVER = Way(Change.REPLACE)


def calls(*kinds):
    """Return calls from tuples of a kind, a path, bytes or another name, and an offset."""
    found = []
    for kind, path, *rest in kinds:
        facts = {"at": rest[1]} if len(rest) > 1 else {}
        if kind is Kind.OPEN:
            facts = {"creates": True, "empties": True}
        elif kind is Kind.RENAME:
            facts = {"new_path": rest[0]}
        elif rest:
            facts["data"] = rest[0]
        found.append(FileCall(kind, path, **facts))
    return found


REPLACED = calls(
    (Kind.OPEN, "new"),
    (Kind.WRITE, "new", b"1234", 0),
    (Kind.WRITE, "new", b"56", 4),
    (Kind.RENAME, "new", "file"),
)


def disk_after(*done, before=(("file", b"old"),)):
    disk = Disk(dict(before))
    for each in done:
        disk.apply(each)
    return disk


def test_a_rename_without_a_sync_may_lose_both_versions():
    disk = disk_after(*REPLACED)
    assert disk.now() == {"file": b"123456"}
    assert disk.synced() == {"file": b"old"}
    assert disk.names_first() == {"file": b""}
    assert disk.last_first() == {"file": b"\0\0\0\x0056"}


def test_a_sync_before_the_rename_keeps_a_version():
    done = [*REPLACED[:3], *calls((Kind.SYNC, "new")), REPLACED[3]]
    disk = disk_after(*done)
    assert disk.synced() == {"file": b"old", "new": b"123456"}
    assert disk.names_first() == disk.last_first() == {"file": b"123456"}
    disk.apply(FileCall(Kind.SYNC, ""))
    assert disk.synced() == {"file": b"123456"}


def test_a_sync_brings_names_and_lengths_of_other_files_too():
    disk = disk_after(
        *calls(
            (Kind.OPEN, "file"), (Kind.WRITE, "file", b"12", 0), (Kind.OPEN, "log"), (Kind.SYNC, "log")
        )
    )
    assert disk.synced() == {"file": b"", "log": b""}
    assert disk.now() == {"file": b"12", "log": b""}
    disk.apply(FileCall(Kind.SYNC, "", of_all=True))
    assert disk.synced() == disk.now()


def test_a_hole_is_of_zeros():
    resized = FileCall(Kind.RESIZE, "file", at=5)
    disk = disk_after(resized, *calls((Kind.WRITE, "file", b"z", 7)))
    assert disk.names_first() == {"file": b"old\0\0"}
    assert disk.now() == disk.last_first() == {"file": b"old\0\0\0\0z"}


def test_moments_are_evenly_spread():
    assert spread(3, 100) == [0, 1, 2, 3]
    found = spread(1000, 100)
    assert (len(found), found[0], found[-1]) == (100, 0, 1000)
    assert {after - before for before, after in pairwise(found)} == {10, 11}


def test_a_write_is_interrupted_at_sectors_all_over_it():
    large = calls((Kind.OPEN, "file"), (Kind.WRITE, "file", bytes(range(256)) * 400, 0))
    found = [each for each in states({}, large, 100) if each.fault is Fault.KILL_IN_WRITE]
    lengths = [len(each.tree["file"]) for each in found]
    assert len({*lengths}) == len(lengths) == 100
    assert {each % SECTOR_BYTES for each in lengths} == {0}
    assert (lengths[0] < 2000, lengths[-1] > 100_000) == (True, True)


def test_states_are_of_each_fault_at_each_moment():
    found = Counter(each.fault for each in states({"file": b"old"}, REPLACED, 100))
    assert found == dict.fromkeys(
        (Fault.KILL, Fault.POWER, Fault.NAMES_FIRST, Fault.LAST_FIRST), len(REPLACED) + 1
    )
    assert [each.call for each in states({}, REPLACED, 2)][-1] == END


def tried(label, folder, way=OVER, limit=20.0):
    """Return the trials of a toy writer, in a process of its own."""
    data = folder / "data"
    store_numbers(data, ROWS)
    operate = partial(operating, label)
    # A toy needs none of the modules that this process has imported for other tests.
    prepared = replace(prepare(operate, data, ROWS, way, folder), modules=())
    how = operate, prepared, data, ROWS, way, 100, limit, {}
    outcome = isolation.run(run_trials, *how, limit_seconds=120)
    assert not outcome.status, outcome.sentence
    found = {each: Counter() for each in Fault}
    for each in outcome.value.trials:
        found[each.fault][each.verdict] += 1
    return outcome.value, found


def test_a_careless_writer_leaves_parts(tmp_path):
    found, verdicts = tried("Careless", tmp_path)
    assert found.calls == 1 + ROWS
    # Before and after the file is emptied, then after each row but the last.
    assert verdicts[Fault.KILL] == {Finding.EARLIER: 1, Finding.CUT: ROWS, Finding.NEW: 1}
    assert verdicts[Fault.POWER] == {Finding.EARLIER: ROWS + 2}
    assert verdicts[Fault.NAMES_FIRST] == {Finding.EARLIER: 1, Finding.CUT: ROWS + 1}
    assert verdicts[Fault.FULL] == {Finding.CUT: ROWS}
    assert not any(each.claims_success for each in found.trials)
    (last,) = (each for each in found.trials if each.is_last and each.fault is Fault.POWER)
    assert last.verdict is Finding.EARLIER
    cut = next(each for each in found.trials if each.message)
    assert (cut.verdict, cut.message, cut.call) == (
        Finding.CUT,
        f"0 of {ROWS} rows, earlier",
        "write file.toy, 5 bytes at 0",
    )


def test_a_careful_writer_leaves_one_version_or_the_other(tmp_path):
    found, verdicts = tried("Careful", tmp_path)
    assert {*sum(verdicts.values(), Counter())} == {Finding.EARLIER, Finding.NEW}
    (last,) = (each for each in found.trials if each.is_last and each.fault is Fault.POWER)
    assert last.verdict is Finding.NEW


def test_our_rename_outlives_kills_and_with_syncs_power_cuts(tmp_path):
    power = (Fault.POWER, Fault.NAMES_FIRST, Fault.LAST_FIRST)
    whole = {Finding.EARLIER, Finding.NEW}
    for renamed in (Renamed.PLAIN, Renamed.SYNCED):
        folder = tmp_path / renamed.value
        folder.mkdir()
        _, verdicts = tried("Careless", folder, Way(Change.REPLACE, renamed))
        assert {*verdicts[Fault.KILL], *verdicts[Fault.FULL]} <= whole
        survives = {*sum((verdicts[each] for each in power), Counter())} <= whole
        assert survives is (renamed is Renamed.SYNCED)


def test_a_writer_that_overlooks_a_full_disk_is_noticed(tmp_path):
    found, _ = tried("Deaf", tmp_path)
    full = [each for each in found.trials if each.fault is Fault.FULL]
    assert len(full) == ROWS
    assert all(each.claims_success and each.verdict is Finding.CUT for each in full)
    cell = SurvivalRow("tables", "Deaf", "eq", ROWS, "replacement").of(Fault.FULL, found, "here")
    assert cell.claimed == (1.0,) * ROWS


def test_errors_crashes_and_hangs_are_told_apart(tmp_path):
    _, verdicts = tried("Strict", tmp_path, Way(Change.SAVE), limit=1.0)
    assert verdicts[Fault.KILL] == {
        Finding.ABSENT: 1,
        Finding.CRASH: 1,
        Finding.HANG: 1,
        Finding.ERROR: ROWS - 1,
        Finding.NEW: 1,
    }


def test_a_library_that_refuses_a_path_cannot_replace(tmp_path):
    store_numbers(tmp_path / "data", ROWS)
    with pytest.raises(UnsupportedError, match=r"the library refuses a path that is there: FileExists"):
        prepare(partial(operating, "Strict"), tmp_path / "data", ROWS, OVER, tmp_path)


def test_parts_of_a_table_are_recognised():
    whole = pd.DataFrame({"text": ["a", "b", "c"], "truth": [True, False, True], "count": [1, 2, 3]})
    # The last row was cut, and its column is text for that.
    head = pd.DataFrame({"text": ["a", "b"], "truth": ["True", "Fa"], "count": [1.0, np.nan]})
    assert is_part(whole, head, is_ordered=True)
    assert is_part(whole, head.head(0), is_ordered=True)
    assert not is_part(whole, head.assign(text=["x", "b"]), is_ordered=True)
    assert not is_part(whole, whole, is_ordered=True)
    some = whole.iloc[[2, 0]].reset_index(drop=True)
    assert is_part(whole, some, is_ordered=False)
    assert not is_part(whole, some, is_ordered=True)
    assert not is_part(whole, some.assign(count=[3, 4]), is_ordered=False)
    assert arranged(whole.iloc[::-1]).equals(whole)


USUAL = {"families": "tables", "rows": 200, "moments": 12, "limit": 20.0}


def measured(out, formats, **options):
    return SURVIVAL.run(out, formats=formats, **(USUAL | options))[0]


def called(*arguments):
    """Call the study's command; return its exit status and output."""
    return CliRunner().invoke(format_bench, ["study", "survival", *map(str, arguments)])


def counted(rows, label, change, *faults, renamed=""):
    found = Counter()
    for each in rows:
        is_of = (each.format, each.change, each.renamed) == (label, change, renamed)
        if is_of and each.fault in faults:
            found += each.verdicts
    return found


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Return the results of a run on two formats of tables."""
    out = tmp_path_factory.mktemp("survival")
    measured(out, "CSV")
    measured(out, "SQLite", moments=5)
    return out


def test_real_libraries_are_told_apart(tables):
    rows = read(FORM, tables)
    whole = {Finding.EARLIER, Finding.NEW}
    kills, power = (Fault.KILL, Fault.KILL_IN_WRITE), (Fault.POWER, Fault.NAMES_FIRST, Fault.LAST_FIRST)
    # A row that is cut may change the type of its column; the others are first rows all the same.
    csv = counted(rows, "CSV", "replacement", *kills)
    assert csv[Finding.CUT] > 10
    assert csv[Finding.DIFFERENT] <= 1
    assert {*counted(rows, "CSV", "replacement", *kills, renamed="renamed")} <= whole
    assert {*counted(rows, "CSV", "replacement", *power, renamed="synced and renamed")} <= whole
    assert {*counted(rows, "SQLite", "append", *Fault)} == whole
    facts = {(each.format, each.change): each for each in rows if each.calls}
    # SQLite removes its journal last, and brings no folder to the device.
    assert (facts["SQLite", "append"].undurable, facts["CSV", "save"].undurable) == (1, 1)
    assert facts["SQLite", "append"].syncs > 0
    (refused,) = (
        each
        for each in rows
        if (each.format, each.change, each.renamed) == ("SQLite", "replacement", "")
    )
    assert refused.status == "unsupported"
    assert "the library refuses a path that is there" in refused.sentence


def test_results_are_records_that_merge(tables, tmp_path):
    rows, found = read(FORM, tables), load(tables).records
    assert {each.suite for each in found} == {"survival"}
    (neither,) = (
        each
        for each in found
        if (each.format, each.metric, each.conditions.get("fault"))
        == ("CSV", "survival neither version", "kill")
        and each.conditions["change"] == "save"
    )
    (row,) = (
        each for each in rows if (each.format, each.change, each.fault) == ("CSV", "save", Fault.KILL)
    )
    assert len(neither.repeats) == len(row.neither)
    place = neither.sentence.rpartition("reads in ")[2]
    reads = [json.loads(each) for each in (tables / place).read_text().splitlines()]
    assert Counter(each["verdict"] for each in reads if each["fault"] == "kill") == row.verdicts
    merge(tmp_path / "merged", [tables])
    assert (tmp_path / "merged" / place).read_bytes() == (tables / place).read_bytes()


def test_the_command_resumes_and_prints_the_page(tables, tmp_path):
    out = shutil.copytree(tables, tmp_path / "out")
    rows, lines = read(FORM, out), (out / "results.jsonl").read_text().splitlines()
    assert measured(out, "CSV") == rows
    assert (out / "results.jsonl").read_text().splitlines() == lines
    # A change whose rows were lost is tried again.
    lost = next(each for each in rows if (each.format, each.change) == ("CSV", "replacement")).cell
    kept = [each for each in lines if not _is_of(json.loads(each), lost)]
    assert len(kept) < len(lines)
    (out / "results.jsonl").write_text("\n".join(kept) + "\n")
    options = [text for name, value in USUAL.items() for text in (f"--{name}", value)]
    done = called("--formats", "CSV", *options, "--out", out)
    assert done.exit_code == 0, done.output
    assert "tables: CSV, replacement, kill: " in done.stderr
    assert "CSV, save" not in done.stderr
    assert "killed, and left the replayed files, byte by byte" in done.stdout
    assert {each.cell for each in read(FORM, out)} == {each.cell for each in rows}
    assert len((out / "results.jsonl").read_text().splitlines()) == len(lines)
    done = called("--page", out)
    assert done.stdout.startswith("# When a save is interrupted")
    assert (
        "- **Replaced by a rename, writer killed.** 2 of 2 formats always left an intact version."
        in done.stdout
    )
    assert "| CSV |" in done.stdout


def _is_of(record, cell):
    """Return whether a record is of a change."""
    conditions = record["conditions"]
    facts = record["format"], conditions["change"], conditions.get("renamed", "")
    return facts == (cell.format, cell.change, cell.renamed)


def test_arrays_are_tried_too(tmp_path):
    rows = measured(tmp_path, "NPY", families="arrays", moments=20)
    assert counted(rows, "NPY", "save", Fault.KILL)[Finding.NEW] == 1
    assert {each.suite for each in load(tmp_path).records} == {"survival-arrays"}
    # Two renames replace a folder, and between them there is none.
    replaced = counted(rows, "NPY", "replacement", Fault.KILL, renamed="renamed")
    assert {*replaced} == {Finding.EARLIER, Finding.ABSENT, Finding.NEW}
    assert replaced[Finding.ABSENT] == 1


def test_records_and_images_are_tried_too(tmp_path):
    rows = measured(tmp_path, "MessagePack,NumPy", families="images,records", moments=4)
    assert {each.suite for each in load(tmp_path).records} == {"survival-images", "survival-records"}
    for label in ("MessagePack", "NumPy"):
        assert counted(rows, label, "save", Fault.KILL)[Finding.NEW] == 1
        replaced = counted(rows, label, "replacement", Fault.KILL, renamed="renamed")
        assert {*replaced} <= {Finding.EARLIER, Finding.ABSENT, Finding.NEW}
    # The file is a stream, which ends after any record.
    assert counted(rows, "MessagePack", "save", Fault.KILL)[Finding.CUT] > 0


def test_the_command_refuses_unknown_names_and_a_missing_folder(tmp_path):
    done = run("study", "survival", "--formats", "XYZ", "--out", tmp_path)
    assert done.returncode == 2, done.stderr
    assert "there is no format 'XYZ'" in done.stderr
    with pytest.raises(UnknownNameError, match="there is no family 'songs'"):
        measured(tmp_path, "", families="songs")
    done = called()
    assert done.exit_code == 2, done.output
    assert "give --out FOLDER" in done.output
