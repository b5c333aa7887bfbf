"""The study of nesting: layouts give the same answers, wrong ones are refused, its page."""

from __future__ import annotations

import importlib.util
import math
import shutil
from dataclasses import replace

import numpy as np
import pytest

from adapter_core.errors import UnavailableError, WrongValuesError
from format_bench.instruments import isolation
from format_bench.instruments.page_cache import files_of
from format_bench.results import flat_csv
from format_bench.studies.declared import study
from format_bench.studies.declared.rows import Agenda
from format_bench.studies.nested import measuring
from format_bench.studies.nested.compiled import ProtobufClasses
from format_bench.studies.nested.events import (
    QUESTIONS,
    Answer,
    Events,
    KaonLists,
    answer_of_columns,
    answer_of_lists,
)
from format_bench.studies.nested.layouts import Hdf5, TableLayout
from format_bench.studies.nested.measuring import NESTING, NestingResult
from tests.commands import run
from tests.factories.records import results

ROWS = 2000


def page(results, folder):
    """Return the page of results, which were kept as CSV."""
    path = folder / "nesting.csv"
    path.write_text(flat_csv.to_csv(NestingResult, results), encoding="utf-8")
    rows, found = NESTING.read(path)
    return study.read("nesting").page(found, rows).markdown()


# Layouts whose events are objects of compiled classes.
ROOT_LAYOUTS = ("TTree[ROOT]", "RNTuple[ROOT]")
NATIVE = (*ROOT_LAYOUTS, "Protobuf[C++]")


@pytest.fixture(scope="module")
def events():
    return Events.generate(ROWS)


def _ids(layouts):
    return [f"{each.format}, {each.name}" for each in layouts]


LAYOUTS = [each for each in measuring.layouts(None) if each.format not in NATIVE]


@pytest.mark.parametrize("layout", LAYOUTS, ids=_ids(LAYOUTS))
def test_each_layout_answers_both_questions(layout, events, tmp_path):
    layout.require()
    for codec in layout.codecs:
        path = tmp_path / codec
        layout.write(layout.prepare(events, codec), path, codec)
        for question in QUESTIONS:
            events.check(question, layout.answer(path, question))


# Lance packs integers and repeated values without a codec, too.
WITH_ZSTD = [each for each in LAYOUTS if "zstd" in each.codecs and each.format != "Lance"]


@pytest.mark.parametrize("layout", WITH_ZSTD, ids=_ids(WITH_ZSTD))
def test_zstd_makes_files_smaller(layout, events, tmp_path):
    layout.require()
    for codec in layout.codecs:
        layout.write(layout.prepare(events, codec), tmp_path / codec, codec)
    assert (tmp_path / "zstd").stat().st_size < 0.85 * (tmp_path / "none").stat().st_size


def test_the_codec_of_lance_reaches_the_fields_of_lists(events, tmp_path):
    layout = TableLayout("Lance", deep=True)
    layout.require()
    sizes = []
    for codec in layout.codecs:
        layout.write(layout.prepare(events, codec), tmp_path / codec, codec)
        sizes.append(sum(each.stat().st_size for each in files_of(tmp_path / codec)))
    assert sizes[1] < 0.9 * sizes[0]


@pytest.mark.costly
@pytest.mark.skipif(
    importlib.util.find_spec("ROOT") is None or shutil.which("g++") is None,
    reason="needs ROOT and g++",
)
def test_objects_of_compiled_classes_answer_both_questions(tmp_path):
    outcome = isolation.run(sizes_of_objects, tmp_path, ROOT_LAYOUTS, limit_seconds=600)
    assert not outcome.status, outcome.sentence
    plain = {layout: size for (layout, codec), size in outcome.value.items() if codec == "none"}
    assert len(plain) == 5 + 2
    # Each event has 184 bytes, and each list a count for each of its 8 branches.
    assert plain["DeepEvent, split 99"] > (184 + 8 * 4) * ROWS
    assert plain["FlatEvent, split 99"] < plain["DeepEvent, split 99"]
    # The same columns, without the class' streamers.
    assert 184 * ROWS < plain["FlatEvent, by hand"] < plain["FlatEvent, split 99"]
    for layout, size in plain.items():
        assert outcome.value[layout, "zstd"] < 0.85 * size


def sizes_of_objects(folder, labels):
    """Write and read layouts of objects; return their bytes by layout and codec."""
    events, sizes = Events.generate(ROWS), {}
    for layout in measuring.layouts(folder / "build"):
        if layout.format in labels:
            layout.require()
            for codec in layout.codecs:
                path = folder / f"{layout.format}, {layout.name}, {codec}"
                layout.write(layout.prepare(events, codec), path, codec)
                for question in QUESTIONS:
                    events.check(question, layout.answer(path, question))
                sizes[layout.name, codec] = path.stat().st_size
    return sizes


def test_messages_of_compiled_classes_answer_both_questions(tmp_path):
    outcome = isolation.run(sizes_of_messages, tmp_path, limit_seconds=600)
    assert not outcome.status, outcome.sentence
    if isinstance(outcome.value, str):
        pytest.skip(outcome.value)
    # 20 doubles and 6 small integers with a number each, of which zeros are left out.
    assert 180 * ROWS < outcome.value["FlatEvent", "none"] < 230 * ROWS
    # A kaon has a number and a length, and its fields have numbers below 16, which take one byte.
    assert abs(outcome.value["DeepEvent", "none"] - outcome.value["FlatEvent", "none"]) < 15 * ROWS


def sizes_of_messages(folder):
    """Return the bytes of messages, or why they cannot be made here."""
    try:
        return sizes_of_objects(folder, ["Protobuf[C++]"])
    except UnavailableError as error:
        return str(error)


def test_a_missing_compiler_is_a_reason(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    for layout in measuring.layouts(tmp_path):
        if layout.format in NATIVE:
            with pytest.raises(UnavailableError, match=r"g\+\+ is missing, which makes the classes"):
                layout.require()


def test_a_cut_file_of_messages_is_an_error(tmp_path):
    outcome = isolation.run(answer_of_cut_messages, tmp_path, limit_seconds=600)
    if "Protobuf[C++] is unavailable" in outcome.sentence:
        pytest.skip(outcome.sentence)
    assert "Protobuf could not read messages" in outcome.sentence


def answer_of_cut_messages(folder):
    events, path = Events.generate(100), folder / "messages"
    layout = ProtobufClasses(deep=False, build=folder / "build")
    layout.require()
    layout.write(layout.prepare(events, "none"), path, "none")
    path.write_bytes(path.read_bytes()[:-1])
    layout.answer(path, "whole")


def test_answers_are_those_of_the_definition(events):
    columns, kaons = events.columns, events.kaons
    kept = [
        row for row in range(ROWS) if not any(columns[f"H{track}_isMuon"][row] for track in (1, 2, 3))
    ]
    names = ("PX", "PY", "PZ", "ProbK", "ProbPi", "Charge")
    total = math.fsum(
        columns[f"H{track}_{name}"][row] for row in kept for track in (1, 2, 3) for name in names
    )
    for answer in (answer_of_columns("whole", columns), answer_of_lists("whole", kaons)):
        assert answer.events == len(kept)
        assert answer.total == pytest.approx(total, rel=1e-9)
    first = [columns["H1_PX"][row] for row in range(ROWS) if not columns["H1_isMuon"][row]]
    for answer in (answer_of_columns("sparse", columns), answer_of_lists("sparse", kaons)):
        assert answer.events == len(first)
        assert answer.total == pytest.approx(math.fsum(first), abs=1e-3)


def test_lists_may_have_any_length():
    fields = dict.fromkeys(("PX", "PY", "PZ", "ProbK", "ProbPi", "Charge"), np.array([1, 2, 4, 8, 16]))
    kaons = KaonLists(np.array([0, 1, 3, 5]), {**fields, "isMuon": np.array([0, 0, 1, 0, 0])})
    assert answer_of_lists("whole", kaons) == Answer(2, 6 * (1 + 8 + 16))
    assert answer_of_lists("sparse", kaons) == Answer(3, 1 + 2 + 8)
    assert answer_of_lists("whole", KaonLists(np.array([0]), kaons.fields)) == Answer()


@pytest.mark.parametrize("question", QUESTIONS)
def test_wrong_answers_are_errors(question, events):
    right = answer_of_columns(question, events.columns)
    events.check(question, right)
    magnitude = sum(abs(values).sum() for values in events.columns.values())
    for wrong in (
        replace(right, events=right.events + 1),
        replace(right, total=right.total + 1e-8 * magnitude),
        replace(right, total=math.nan),
    ):
        with pytest.raises(WrongValuesError, match=question):
            events.check(question, wrong)


class SkewedParquet(TableLayout):
    """Parquet whose answers lack an event."""

    def answer(self, path, question):
        return super().answer(path, question) + Answer(-1, 0.0)


class MissingModule(Hdf5):
    modules = ("no_such_module",)


def test_a_wrong_answer_of_a_layout_ends_the_trials(monkeypatch):
    monkeypatch.setattr(measuring, "layouts", lambda _: [SkewedParquet("Parquet", deep=True)])
    with pytest.raises(WrongValuesError, match="Parquet, list of structs, codec none: whole"):
        list(measuring.measure(Agenda(), "Parquet", 100))


def test_a_missing_library_is_a_result_with_a_reason(monkeypatch, tmp_path):
    monkeypatch.setattr(measuring, "layouts", lambda _: [MissingModule(deep=False)])
    results = list(measuring.measure(Agenda(), "HDF5", 100))
    assert [each.codec for each in results] == ["none", "zstd"]
    assert all("no_such_module is not installed" in each.reason for each in results)
    text = page(results, tmp_path)
    assert "| HDF5; HDF5 zstd | kaons, deep no, layout flat |" in text
    assert "| failed | HDF5 is unavailable: no_such_module is not installed" in text


def _result(layout, factor, name="TTree[ROOT]"):
    return NestingResult(
        name, layout, layout.startswith("Deep"), "zstd", 10, 100 * factor, factor, factor, 2 * factor
    )


def test_the_page_compares_deep_with_flat_and_split_with_unsplit(tmp_path):
    text = page(
        [
            _result("FlatEvent, split 0", 1),
            _result("FlatEvent, split 99", 2),
            _result("FlatEvent, by hand", 4),
            _result("DeepEvent, split 0", 3),
            _result("DeepEvent, split 99", 8),
        ],
        tmp_path,
    )
    assert "| TTree[ROOT] | 0 | zstd | 3.00 | 3.00 | 3.00 | 3.00 |" in text
    assert "| TTree[ROOT] | 99 | zstd | 4.00 | 4.00 | 4.00 | 4.00 |" in text
    assert "| FlatEvent, split 99 | zstd | 2.00 | 2.00 | 2.00 | 2.00 |" in text
    assert "| DeepEvent, split 99 | zstd | 2.67 | 2.67 | 2.67 | 2.67 |" in text
    manual = text[text.index("## Automatic and manual branches") :]
    assert "| TTree[ROOT] | zstd | 0.50 | 0.50 | 0.50 | 0.50 |" in manual
    # Trees with and without lists are compared at the same split level alone.
    assert "| 0.75 |" not in text


def test_the_rows_judge_the_claims_on_nesting():
    def rows(messages, unsplit):
        found = [_result("FlatEvent, split 0", unsplit), _result("FlatEvent", messages, "Protobuf[C++]")]
        return [replace(each, codec="none") for each in found]

    def verdicts(rows):
        records = [each for row in rows for each in measuring.FORM.records(row, "run")]
        judged = study.read("partial-reads").judged(results(records))
        (found,) = [
            each for _, claim, each in judged if claim.claim.startswith("Protocol Buffers read rows")
        ]
        return found

    assert verdicts(rows(3, 4)).verdict == "confirmed"
    assert "0.75" in verdicts(rows(3, 4)).evidence
    assert verdicts(rows(4, 3)).verdict == "refuted"
    assert not verdicts(rows(4, 3)[:1]).is_measured


def test_the_command_prints_the_page_of_its_results(tmp_path):
    out = tmp_path / "nesting.csv"
    done = run("study", "nesting", "--formats", "Feather", "--rows", 500, "--out", out)
    assert done.returncode == 0, done.stderr
    assert "## 500 events" in done.stdout
    assert "| Feather | list of structs | zstd |" in done.stdout
    assert "| Feather |  | none | " in done.stdout
    assert run("study", "nesting", "--page", out).stdout == done.stdout


def test_an_unknown_format_is_refused():
    done = run("study", "nesting", "--formats", "XYZ")
    assert done.returncode == 2
    assert "XYZ" in done.stderr
    assert done.stdout == ""
