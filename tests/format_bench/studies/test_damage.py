"""The study of damage: kinds of damage, classes of readers, results and page."""

from __future__ import annotations

import json
import random
import shutil
import struct
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pytest

import array_stores
import data_formats
from adapter_core.errors import InvalidResultsError, UnsupportedError, WrongValuesError
from format_bench import report
from format_bench.compatibility import foreign
from format_bench.families.cases import Case
from format_bench.families.operations import operations_of
from format_bench.families.tables.operations import TableOperations
from format_bench.instruments import isolation
from format_bench.results import flat_csv, records
from format_bench.results.conditions import Conditions
from format_bench.results.load import load
from format_bench.results.published import hep
from format_bench.results.shipped import DamageCounts
from format_bench.results.study_rows import StudyFile, read
from format_bench.results.suites import FAMILIES, item_of
from format_bench.studies.damaging import page as pages
from format_bench.studies.damaging.counts import FORM, DamageRow
from format_bench.studies.damaging.damaged_reads import (
    ENDS,
    DamageOutcome,
    DamageTrials,
    IntactFile,
    TrialLimits,
    ValueComparison,
    compare,
    prepare,
    printed_sum,
    run_trials,
)
from format_bench.studies.damaging.foreign_sums import SummedCase, SummedTables, summing_on
from format_bench.studies.damaging.kinds import (
    PAGE_BYTES,
    Kind,
    contents_of,
    damage,
    damaged,
)
from format_bench.studies.damaging.study import DAMAGE, DATASETS, Trials, cases_of, counts, file_of
from format_bench.studies.declared.rows import Agenda
from tests.commands import run
from tests.factories import foreign_sums
from tests.factories.damaged_readers import operating, store_bytes
from tests.helpers import ROOT

if TYPE_CHECKING:
    import pandas as pd

    from format_bench.compatibility.foreign import ForeignSum

RANDOM = random.Random(1)

CONTENT = {"": RANDOM.randbytes(5 * PAGE_BYTES + 100)}


def changed(before: bytes, after: bytes) -> list[int]:
    return [place for place, (a, b) in enumerate(zip(before, after, strict=True)) if a != b]


def test_a_flip_inverts_one_bit():
    for number in range(50):
        after = damage(CONTENT, Kind.FLIP, 1, number).apply(CONTENT[""])
        (place,) = changed(CONTENT[""], after)
        assert (CONTENT[""][place] ^ after[place]).bit_count() == 1


def test_a_truncated_file_is_the_head_of_the_whole():
    for number in range(20):
        after = damage(CONTENT, Kind.CUT, 1, number).apply(CONTENT[""])
        assert len(after) < len(CONTENT[""])
        assert CONTENT[""].startswith(after)


def test_a_zeroed_page_is_at_a_multiple_of_its_size():
    change = damage(CONTENT, Kind.ZERO, 1, 0)
    after = change.apply(CONTENT[""])
    assert change.offset % PAGE_BYTES == 0
    assert not any(after[change.offset : change.offset + PAGE_BYTES])
    assert {place // PAGE_BYTES for place in changed(CONTENT[""], after)} == {
        change.offset // PAGE_BYTES
    }


def test_swapped_pages_are_the_same_pages_in_another_order():
    after = damage(CONTENT, Kind.SWAP, 1, 0).apply(CONTENT[""])
    pages_of = [
        [content[start : start + PAGE_BYTES] for start in range(0, len(content), PAGE_BYTES)]
        for content in (CONTENT[""], after)
    ]
    assert sorted(pages_of[0]) == sorted(pages_of[1])
    assert sum(one != other for one, other in zip(*pages_of, strict=True)) == 2


def test_a_duplicated_block_moves_the_rest():
    change = damage(CONTENT, Kind.DUPLICATE, 1, 0)
    after = change.apply(CONTENT[""])
    end = change.offset
    start = (end - 1) // PAGE_BYTES * PAGE_BYTES
    assert after == CONTENT[""][:end] + CONTENT[""][start:]


@pytest.mark.parametrize("kind", Kind)
def test_damage_is_a_function_of_seed_and_number(kind):
    found = [damage(CONTENT, kind, seed, number) for seed in (1, 2) for number in range(5)]
    assert found == [damage(CONTENT, kind, seed, number) for seed in (1, 2) for number in range(5)]
    assert len({str(each) for each in found}) > 3


def test_files_are_chosen_in_proportion_to_their_size():
    content = {"large": bytes(9000), "small": bytes(1000), "empty": b""}
    names = [damage(content, Kind.FLIP, 1, number).file for number in range(300)]
    assert 240 < names.count("large") < 295
    assert "empty" not in names


def test_a_file_may_be_unfit_for_a_kind():
    assert damage({"": b""}, Kind.FLIP, 1, 0) is None
    assert damage({"": b"short"}, Kind.SWAP, 1, 0) is None
    assert damage({"": bytes(3 * PAGE_BYTES)}, Kind.ZERO, 1, 0) is None
    assert damage({"": bytes(3 * PAGE_BYTES)}, Kind.SWAP, 1, 0) is None


@pytest.mark.parametrize("kind", Kind)
def test_a_file_is_damaged_in_place_and_mended(tmp_path, kind):
    folder = tmp_path / "saved"
    (folder / "deep").mkdir(parents=True)
    (folder / "a").write_bytes(RANDOM.randbytes(9000))
    (folder / "deep" / "b").write_bytes(RANDOM.randbytes(20_000))
    contents = contents_of(folder)
    for number in range(6):
        change = damage(contents, kind, 1, number)
        with damaged(folder, contents, change):
            assert contents_of(folder) == contents | {change.file: change.apply(contents[change.file])}
        assert contents_of(folder) == contents


def test_a_file_that_a_reader_removed_is_mended(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(CONTENT[""])
    with damaged(file, CONTENT, damage(CONTENT, Kind.FLIP, 1, 0)):
        file.unlink()
    assert file.read_bytes() == CONTENT[""]


def tried(
    label: str, folder: Path, wanted: list[tuple[Kind, int]], *, warm: bool = True
) -> DamageTrials:
    """Return the trials of a toy reader, in a process of its own."""
    data = folder / "data"
    store_bytes(data)
    operate = partial(operating, label)
    prepared = prepare(operate, data, folder)
    limits = TrialLimits(seconds=1.0, times=1.0)
    outcome = isolation.run(run_trials, operate, prepared, wanted, 1, limits, warm, limit_seconds=60)
    assert not outcome.status, outcome.sentence
    return outcome.value


FLIPS = [(Kind.FLIP, 0), (Kind.FLIP, 1)]


@pytest.mark.parametrize(
    ("label", "outcome", "right", "message"),
    [
        ("Bytes", DamageOutcome.UNDETECTED, False, ""),
        ("Raising", DamageOutcome.ERROR, None, "OSError: the checksum differs"),
        ("Crashing", DamageOutcome.CRASH, None, "SIGSEGV"),
        ("Deferring", DamageOutcome.CRASH, None, "SIGABRT, when the values were used"),
        ("Leaving", DamageOutcome.CRASH, None, "ended by itself with status 3"),
        ("Hanging", DamageOutcome.HANG, None, "not finished after 1 seconds"),
        ("Printing", DamageOutcome.PRINTED, False, "warning: a page looks odd"),
        ("Correcting", DamageOutcome.PRINTED, True, "mended"),
        ("Chatty", DamageOutcome.UNDETECTED, False, ""),
    ],
)
def test_a_reader_is_classified(tmp_path, label, outcome, right, message):
    verdicts = [each.verdict for each in tried(label, tmp_path, FLIPS).trials]
    assert [(each.outcome, each.right, each.message) for each in verdicts] == [
        (outcome, right, message)
    ] * 2


def test_trials_do_not_depend_on_a_first_read(tmp_path):
    wanted = [(kind, number) for kind in Kind for number in range(2)]
    found = [
        [
            (each.kind, each.number, each.offset, each.verdict and each.verdict.outcome)
            for each in tried("Bytes", folder, wanted, warm=warm).trials
        ]
        for folder, warm in ((tmp_path, True), (tmp_path, False))
    ]
    assert found[0] == found[1]


def summed(folder: Path, by: ForeignSum, rows: int = 30) -> tuple[SummedTables, Path, pd.DataFrame]:
    """Return the operations of a program, a saved file, and what it was saved from."""
    df = operations_of(FAMILIES["tables"]).generate("kaons", rows)
    TableOperations.store(df, folder / "data")
    case = SummedCase(by.format, "kaons", rows, suite="tabular", by=by.label)
    with summing_on(case, by, folder / "data") as operations:
        file = folder / f"file{operations.adapter.suffix}"
        operations.save(df, file)
    return operations, file, df


def is_alive(number: str) -> bool:
    """Return whether a process is there that is not only to be collected."""
    try:
        return ") Z" not in Path("/proc", number, "stat").read_text()
    except FileNotFoundError:
        return False


@pytest.mark.parametrize(
    ("fault", "outcome", "message"),
    [
        ("refusing", DamageOutcome.ERROR, "RuntimeError: ChecksumError: the page is damaged"),
        ("crashing", DamageOutcome.CRASH, "SIGSEGV"),
        ("printing", DamageOutcome.PRINTED, "a page looks odd"),
        ("hanging", DamageOutcome.HANG, "not finished after 4 seconds"),
        ("shortening", DamageOutcome.UNDETECTED, ""),
    ],
)
def test_a_program_that_adds_up_is_classified(tmp_path, fault, outcome, message):
    by = foreign_sums.make(tmp_path / "program", fault)
    summed(tmp_path, by)
    case = SummedCase("CSV", "kaons", 30, suite="tabular", by=by.label)
    operate = partial(summing_on, case, by)
    prepared = prepare(operate, tmp_path / "data", tmp_path)
    limits = TrialLimits(seconds=4.0, times=1.0)
    tried = isolation.run(
        run_trials, operate, prepared, FLIPS[:1], 1, limits, True, limit_seconds=60
    ).value
    (found,) = (each.verdict for each in tried.trials)
    assert (found.outcome, found.message) == (outcome, message)
    assert found.same_sum is (None if outcome in {DamageOutcome.ERROR, *ENDS} else False)
    if fault == "hanging":
        assert not is_alive((tmp_path / "program" / "hanging").read_text())


def test_a_program_runs_where_a_library_warns_of_forks(tmp_path):
    pytest.importorskip("lance")
    operations, file, df = summed(tmp_path, foreign_sums.make(tmp_path / "program", "honest"))
    operations.verify(df, operations.read(file))


def test_flips_of_selected_events_alone_change_a_programs_sum(tmp_path):
    operations, file, df = summed(tmp_path, foreign_sums.make(tmp_path / "program", "honest"))
    intact = operations.read(file)
    operations.verify(df, intact)
    prepared = IntactFile(file, file, 1, (), ((0.0,), ""))
    has_muon = df[["H1_isMuon", "H2_isMuon", "H3_isMuon"]].any(axis=1)
    lines = file.read_text().splitlines(keepends=True)
    for row, same_sum in ((has_muon.argmax(), True), ((~has_muon).argmax(), False)):
        value = repr(float(df["H1_PX"][row]))
        changed = lines[row + 1].replace(value, chr(ord(value[0]) ^ 1) + value[1:])
        file.write_text("".join([*lines[: row + 1], changed, *lines[row + 2 :]]))
        found = compare(operations, intact, prepared, lambda: None)
        assert found == ValueComparison(right=False, same_sum=same_sum)


def test_an_answer_of_other_values_than_the_saved_is_no_reference(tmp_path):
    operations, file, df = summed(tmp_path, foreign_sums.make(tmp_path / "program", "honest"))
    answer = operations.read(file)
    for column, value in (("rows", 29), ("sum", "1.000000"), ("digest", "00000000")):
        with pytest.raises(WrongValuesError, match=r"CSV\[toy\] printed"):
            operations.verify(df, answer.assign(**{column: value}))
    with pytest.raises(UnsupportedError, match=r"CSV\[toy\] adds up decays"):
        operations.check(df.drop(columns="H1_PX"))


@pytest.mark.parametrize(
    ("label", "message"),
    [
        pytest.param("Avro[avro-java]", "Invalid sync", marks=pytest.mark.jvm),
        ("Avro[avro_c]", "Incorrect sync"),
    ],
)
@pytest.mark.costly("format_bench.compatibility.foreign")
def test_avro_by_others_notices_changed_markers_and_no_changed_values(tmp_path, label, message):
    by = foreign.sums()[label]
    if lacking := by.implementation.lacking():
        pytest.skip(lacking)
    operations, file, df = summed(tmp_path, by)
    intact = operations.read(file)
    operations.verify(df, intact)
    prepared = IntactFile(file, file, 1, (), ((0.0,), ""))
    content = file.read_bytes()
    plain = (df[["H1_isMuon", "H2_isMuon", "H3_isMuon"]] == 0).all(axis=1).argmax()
    place = content.index(struct.pack("<d", df["H1_PX"][plain]))
    assert compare(operations, intact, prepared, lambda: None) == ValueComparison(True, same_sum=True)

    def flip(place: int) -> None:
        file.write_bytes(content[:place] + bytes([content[place] ^ 64]) + content[place + 1 :])

    flip(place + 7)  # a bit of the exponent
    assert compare(operations, intact, prepared, lambda: None) == ValueComparison(False, same_sum=False)
    flip(len(content) - 1)  # of the marker after the last block
    with pytest.raises(RuntimeError, match=message):
        operations.read(file)


def test_programs_are_tried_on_files_of_adapters():
    cases = [*cases_of("tables", 20, ["Avro[avro-java]"], "kaons")]
    assert [(each.format, each.codec) for each in cases] == [
        ("Avro", None),
        ("Avro", "deflate"),
        ("Avro", "snappy"),
    ]
    assert file_of(cases[1], 1).name == "Avro[avro-java], deflate"
    assert counts(cases[0], 100)[Kind.FLIP] == 100


def test_a_program_that_is_not_built_is_unavailable(tmp_path, monkeypatch):
    monkeypatch.setattr(foreign.ForeignReader, "lacking", lambda _: "it is unavailable: try x")
    (case, *_) = cases_of("tables", 20, ["Avro[avro-java]"], "kaons")
    (found,) = kept(tmp_path, [case], flips=1)
    assert (found.format, found.status, found.sentence) == (
        "Avro[avro-java]",
        "unavailable",
        "it is unavailable: try x",
    )


def kept(folder: Path, cases: list[Case], *, flips: int, seed: int = 1) -> list[DamageRow]:
    """Try what a folder lacks, and return the new rows, which are in the folder then."""
    file = StudyFile(FORM, folder)
    known = read(FORM, folder) if (folder / "results.jsonl").exists() else []
    trials = Trials(Agenda(known, out=folder), seed=seed, flips=flips)
    return [file.appended(each) for each in trials.run(cases)]


def flips_of(rows: list[DamageRow]) -> dict[str, DamageRow]:
    return {each.name: each for each in rows if each.damage == Kind.FLIP}


def test_real_flips_in_parquet_pass_unless_checksums_are_verified(tmp_path):
    chosen = [each for each in cases_of("tables", 2_000, ["Parquet"]) if each.codec in (None, "gzip")]
    rows = kept(tmp_path, chosen, flips=8)
    assert read(FORM, tmp_path) == rows
    flips = flips_of(rows)
    assert flips["Parquet"].outcomes[DamageOutcome.UNDETECTED] >= 4
    assert flips["Parquet, with checksums"].outcomes[DamageOutcome.UNDETECTED] == 0
    assert flips["Parquet, gzip"].outcomes[DamageOutcome.ERROR] >= 4
    (cost,) = (each.size_cost for each in rows if each.file == file_of(chosen[1], 1) and each.size)
    assert 0.9 < cost < 1.2
    assert kept(tmp_path, chosen, flips=8) == []
    first, *lines = (tmp_path / "results.jsonl").read_text().splitlines(keepends=True)
    of_flips = [each for each in lines if '"damage": "bit flip"' in each]
    (tmp_path / "results.jsonl").write_text("".join([first, *lines[: lines.index(of_flips[1])]]))
    resumed = Trials(Agenda(read(FORM, tmp_path)), seed=1, flips=8)
    assert resumed.missing(chosen[0])[0] == (Kind.CUT, 0)
    again = [*rows, *kept(tmp_path, chosen, flips=8)]
    assert {each.name: each.outcomes for each in flips_of(again).values()} == {
        each.name: each.outcomes for each in flips.values()
    }
    assert {(each.file, each.damage) for each in read(FORM, tmp_path)} == {
        (each.file, each.damage) for each in rows
    }
    more = kept(tmp_path, chosen[:1], flips=9)
    assert [len(each.effect) for each in more if each.damage] == [9]
    assert more[-1].effect[:8] == flips["Parquet"].effect


def test_each_read_is_beside_the_records_that_name_it(tmp_path):
    case = Case("Feather", "eq", 100, suite="tabular")
    rows = kept(tmp_path, [case], flips=3)
    found = {each.damage: each for each in rows}[Kind.FLIP]
    trials = (tmp_path / found.sentence.removeprefix("reads in ")).read_text().splitlines()
    assert [json.loads(each)["verdict"]["outcome"] for each in trials][:3] == [
        *found.outcomes.elements()
    ]


def test_the_printed_sum_overlooks_what_the_published_table_did(tmp_path):
    found = kept(tmp_path, [Case("Pickle", "kaons", 500, suite="tabular")], flips=40)
    flips = flips_of(found)["Pickle"]
    assert read(FORM, tmp_path) == found
    none, noticed, undetected = flips.published_outcomes
    assert none + noticed + undetected == 40
    by_value = flips.outcomes
    # Hardly a flip leaves all values as they are, and many leave the sum.
    assert none > by_value[DamageOutcome.NONE] + 5
    assert undetected < by_value[DamageOutcome.UNDETECTED]
    assert noticed == 40 - by_value[DamageOutcome.NONE] - by_value[DamageOutcome.UNDETECTED]
    assert sum(flips.missed) == undetected


def test_the_printed_sum_is_of_events_without_muons_to_six_decimals():
    df = operations_of(FAMILIES["tables"]).generate("kaons", 1_000)
    usual = printed_sum(df)
    (muon, *_) = np.flatnonzero(df["H1_isMuon"])
    (plain, *_) = np.flatnonzero(~df[["H1_isMuon", "H2_isMuon", "H3_isMuon"]].any(axis=1))
    for row, by, is_same in ((muon, 5.0, True), (plain, 1e-9, True), (plain, 1.0, False)):
        changed = df.copy()
        changed.loc[row, "H1_PX"] += by
        assert (printed_sum(changed) == usual) is is_same
    changed = df.copy()
    changed.loc[plain, "B_VertexChi2"] += 1.0  # not among the 18
    assert printed_sum(changed) == usual
    assert printed_sum(df.drop(columns="H1_PX")) is None


def test_images_and_arrays_are_tried_too(tmp_path):
    protected = Conditions({"checksums": "on"})
    chosen = [
        Case("PNG", DATASETS["images"], 5, suite="image"),
        Case("Zarr.dir", DATASETS["arrays"], 1, codec="zstd", conditions=protected, suite="chunks"),
    ]
    flips = flips_of(kept(tmp_path, chosen, flips=6))
    assert [each.outcomes[DamageOutcome.ERROR] >= 5 for each in flips.values()] == [True, True]


def test_a_format_that_cannot_keep_the_data_has_a_sentence(tmp_path):
    refused = [Case("CSV[polars]", "era5-small", 1, suite="chunks")]
    (found,) = kept(tmp_path, refused, flips=1)
    assert (found.status, found.damage) == ("unsupported", "")
    assert found.sentence.startswith("CSV[polars] cannot store this array")
    (record,) = load(tmp_path).records
    assert (record.suite, record.metric, record.value) == ("damage-arrays", "damage not noticed", None)
    assert kept(tmp_path, refused, flips=1) == []


def test_results_of_another_seed_are_refused(tmp_path):
    made_up(tmp_path)
    done = run("study", "damage", "--seed", 2, "--out", tmp_path)
    assert done.returncode == 2
    assert "was made with the seed 1" in done.stderr


@pytest.mark.parametrize("line", ["{", '{"seed": 1}', '{"seed": 1, "subject": {"a": 2}}', "[]"])
def test_a_damaged_file_of_an_earlier_version_is_refused_with_its_line(tmp_path, line):
    (tmp_path / FORM.earlier).write_text(f"{line}\n")
    with pytest.raises(InvalidResultsError, match="line 1"):
        DAMAGE.read(tmp_path)


def test_results_of_an_earlier_version_go_on_as_records(tmp_path):
    shutil.copy(ROOT / "tests" / "data" / "study_results" / "damage.jsonl", tmp_path)
    before = DAMAGE.read(tmp_path)[0]
    with (tmp_path / "damage.jsonl").open("a") as file:
        file.write('{"subject": {"fam')  # as a killed run leaves it
    for _ in range(2):
        done = run(
            "study", "damage", "--formats", "Pickle", "--rows", 300, "--flips", 4, "--out", tmp_path
        )
        assert done.returncode == 0, done.stderr
        assert DAMAGE.read(tmp_path)[0] == before
    found = load(tmp_path).records
    assert len(records.read(tmp_path / "results.jsonl")) == len(found)
    assert {each.suite: item_of(each.suite) for each in found} == {
        "damage": "row",
        "damage-images": "image",
        "damage-arrays": "chunk",
    }
    flips = {
        (each.format, each.codec, each.conditions.get("checksums")): each
        for each in found
        if (each.metric, each.conditions.get("damage")) == ("damage not noticed", "bit flip")
        and each.dataset == "eq"
    }
    plain, protected = flips["Parquet", "zstd", None], flips["Parquet", "zstd", "on"]
    assert (plain.value, plain.repeats) == (0.25, [0.0, 1.0, 0.0, 0.0])
    assert plain.interval[0] < 0.25 < plain.interval[1]
    assert plain.sentence == "reads in damage.jsonl"
    assert protected.value == 0
    ends = [each for each in found if each.metric == "damage crashes" and each.value]
    assert [(each.format, each.value) for each in ends] == [("Pickle", 0.25)]
    assert {"save CPU with checksums", "size with checksums"} <= {each.metric for each in found}
    assert "Parquet zstd" in report.page(load(tmp_path))


def test_results_without_trials_have_no_page(tmp_path):
    (tmp_path / FORM.earlier).write_text("")
    with pytest.raises(InvalidResultsError, match="contains no results"):
        DAMAGE.read(tmp_path)


def line(subject: dict, **fact: object) -> str:
    return json.dumps({"subject": subject, "seed": 1, **fact})


def made_up(folder: Path) -> list[DamageRow]:
    """Return results of Parquet: 100 flips, 3 of them undetected, a crash, and checksums."""
    plain = {
        "family": "tables",
        "format": "Parquet",
        "codec": None,
        "checksums": False,
        "dataset": "eq",
        "rows": 10,
    }
    checked = plain | {"checksums": True}
    facts = {"date": "2026-01-01", "libraries": {"pyarrow": "1"}, "sentence": "", "size": 5000}
    outcomes = ["undetected"] * 3 + ["crash"] + ["printed only"] + ["no effect"] * 95
    rights = {"undetected": False, "printed only": False, "no effect": True}
    lines = [line(plain, facts=facts), line(checked, facts=facts)]
    for number, outcome in enumerate(outcomes):
        verdict = {
            "outcome": outcome,
            "right": rights.get(outcome),
            "message": "SIGSEGV" if outcome == "crash" else "",
            "seconds": 0.1,
        }
        trial = {"kind": "bit flip", "number": number, "file": "", "offset": 1, "verdict": verdict}
        lines.append(line(plain, trial=trial))
    error = {"outcome": "error", "right": None, "message": "OSError: x", "seconds": 0.1}
    trial = {"kind": "truncation", "number": 0, "file": "", "offset": 1, "verdict": error}
    lines.append(line(checked, trial=trial))
    lines.append(line(checked, cost={"save": 1.5, "read": 1.25, "size": 1.0, "calls": 7}))
    untried = plain | {"format": "NPZ"}
    lines.append(line(untried, facts=facts | {"sentence": "unsupported: no text"}))
    (folder / FORM.earlier).write_text("\n".join(lines) + "\n")
    return DAMAGE.read(folder)[0]


def test_the_page_has_counts_intervals_costs_and_crashes(tmp_path):
    made_up(tmp_path)
    text = run("study", "damage", "--page", tmp_path).stdout
    assert "| Parquet | 10 | 5 kB | 100 | 95 | 0 | 1 | 0 | 1 (1 wrong) | 3 | 4% (1.6% to 9.8%) |" in text
    assert "- **Parquet** (tables), 1 of 100 trials (bit flip 1): 1 x crash, SIGSEGV." in text
    assert "| Parquet | 63 / 4 / 33 | Parquet | 95 / 2 / 3 | 4% (1.6% to 9.8%) |" in text
    assert "| tables | Parquet | 4 of 100 | 0 of 1 | 1.50 | 1.25 | 1.00 |" in text
    assert "- NPZ (tables): unsupported: no text" in text
    assert "- **Tables**: Parquet with checksums; 1 of 2." in text


def test_files_of_several_sizes_have_their_rows_beside_the_published_table(tmp_path):
    rows = made_up(tmp_path)
    further = [replace(each, rows=20) for each in rows if not each.checksums]
    (block,) = pages.published(SimpleNamespace(rows=[*rows, *further]))
    here = [row[2] for row in block.rows if row[0] == "Parquet"]
    assert here == ["Parquet (20 rows)", "Parquet (10 rows)"]
    checked = [replace(each, rows=20) for each in rows if each.checksums]
    (block,) = pages.detectors(SimpleNamespace(rows=[*rows, *further, *checked]))
    assert block.items == ["**Tables**: Parquet with checksums; 1 of 2."]


def test_the_summary_survives_a_round_trip(tmp_path):
    found = flat_csv.from_csv(DamageCounts, pages.facts(made_up(tmp_path)))
    plain, checked = found
    assert (plain.flips, plain.flips_wrong, plain.others, plain.crashes) == (100, 4, 0, 1)
    assert (plain.wrong, plain.trials, plain.checksums, checked.checksums) == (4, 100, False, True)
    assert flat_csv.from_csv(DamageCounts, flat_csv.to_csv(DamageCounts, found)) == found


def test_published_rows_have_a_hundred_reads_each():
    found = hep.flips()
    assert len(found) == 13
    for each in found:
        assert each.no_effect + each.crash + each.error_message + each.undetected == 100, each


def test_further_formats_have_fewer_trials():
    (csv, *_) = cases_of("tables", 100_000, ["CSV"])
    (avro, *_) = cases_of("tables", 100_000, ["Avro"])
    assert (csv.rows, avro.rows) == (10_000, 100_000)
    assert counts(csv, 100)[Kind.FLIP] == 40
    assert counts(avro, 100) == dict.fromkeys(Kind, 10) | {Kind.FLIP: 100}


@pytest.mark.parametrize("label", ["Parquet", "HDF5[h5py]", "HDF5.table", "Zarr"])
def test_checksums_of_a_table_are_written_and_read(tmp_path, label):
    adapter = data_formats.get(label).with_checksums()
    assert adapter.uses_checksums
    assert not data_formats.get(label).uses_checksums
    path = tmp_path / f"t{adapter.suffix}"
    df = operations_of(FAMILIES["tables"]).generate("eq", 100)
    adapter.save(df, path)
    assert adapter.read(path).equals(df)
    assert adapter.codec_used(path) is None


@pytest.mark.parametrize(
    ("label", "codec"), [("HDF5", None), ("Zarr.dir", "zstd"), ("NPY", "zstd"), ("NPY.tar", "lz4")]
)
def test_checksums_of_an_array_are_in_the_file(tmp_path, label, codec):
    store = array_stores.get(label)
    data = operations_of(FAMILIES["arrays"]).generate("era5-small", 1)
    files = [tmp_path / f"{name}{store.suffix}" for name in ("plain", "again", "checked")]
    for each, file in zip((store, store, store.with_checksums()), files, strict=True):
        each.save(data, file, None, codec)
    plain, again, checked = map(contents_of, files)
    assert plain == again != checked
    assert store.codec_used(files[2]) == codec
    with store.open(files[0]) as one, store.open(files[2]) as other:
        assert (one.read() == other.read()).all()


@pytest.mark.parametrize("codec", [None, "zstd+shuffle"])
def test_checksums_of_tiledb_are_a_filter_after_the_codec(tmp_path, codec):
    import tiledb

    store = array_stores.get("TileDB").with_checksums()
    data = operations_of(FAMILIES["arrays"]).generate("era5-small", 1)
    path = tmp_path / "a.tdb"
    store.save(data, path, None, codec)
    with tiledb.open(str(path)) as array:
        filters = [type(each).__name__ for each in array.attr(0).filters]
    assert filters[-1] == "ChecksumSHA256Filter"
    assert store.codec_used(path) == codec


def test_the_table_layout_of_hdf5_has_checksums_without_a_codec(tmp_path):
    import tables

    df = operations_of(FAMILIES["tables"]).generate("eq", 100)
    data_formats.get("HDF5.table").with_checksums().save(df, tmp_path / "t.h5")
    with tables.open_file(tmp_path / "t.h5") as file:
        filters = file.root.table.table.filters
    assert (filters.fletcher32, filters.complevel) == (True, 0)


def test_a_format_without_optional_checksums_has_none_to_switch_on():
    with pytest.raises(UnsupportedError, match="CSV has no checksums to switch on"):
        data_formats.get("CSV").with_checksums()


def test_the_command_refuses_unknown_names_and_a_missing_folder(tmp_path):
    for arguments, sentence in (
        (["--formats", "XYZ", "--out", tmp_path], "there is no format 'XYZ'"),
        (["--families", "songs", "--out", tmp_path], "there is no family 'songs'"),
        ([], "give --out FOLDER"),
        (["--page", tmp_path / "none"], "does not exist"),
    ):
        done = run("study", "damage", *arguments)
        assert done.returncode == 2, done.stderr
        assert sentence in done.stderr


def test_the_command_tries_and_prints_the_page(tmp_path):
    options = ["--formats", "Feather", "--families", "tables", "--flips", 2, "--rows", 100]
    done = run("study", "damage", *options, "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "tables: Feather: bit flip, 2 reads: " in done.stderr
    assert "| Feather, zstd | 100 |" in done.stdout
    done = run("study", "damage", "--page", tmp_path)
    assert done.stdout.startswith("# When a bit flips")
    assert "| Feather, zstd | 100 |" in done.stdout
