"""The study of reads: shares, questions, picture and page, on files of known layout."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from adapter_core.errors import InvalidSelectionError, UserDataError
from adapter_core.predicate import Comparison, Predicate
from format_bench import report
from format_bench.instruments.read_map import Method, ReadMap, reason_against_exact
from format_bench.instruments.read_map.reads import READS
from format_bench.results import study_rows
from format_bench.results.candidates import Configuration
from format_bench.results.load import load
from format_bench.studies.read_maps import mapping, picture, questions, shares
from format_bench.studies.read_maps.mapping import Data, Mapped
from format_bench.studies.read_maps.questions import Asked, Question
from tests.commands import run


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """Return the folder that the command has written for a user's own table, and its output."""
    reason = reason_against_exact()
    if reason:
        pytest.skip(f"exact maps are not possible here: {reason}")
    folder = tmp_path_factory.mktemp("reads")
    columns = {f"c{at}": np.arange(40_000) * 1.5 + at for at in range(10)}
    pd.DataFrame(columns).to_parquet(folder / "mine.parquet")
    arguments = ("--data", folder / "mine.parquet", "--columns", "c2,c7", "--where", "c2 < 30")
    done = run("study", "reads", "Feather", "Pickle", *arguments, "--codecs", "none", "--out", folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "reads.md").read_text(encoding="utf-8") == done.stdout
    return folder


def row_of(text, name):
    (line, *_) = [each for each in text.splitlines() if each.startswith(f"| {name} |")]
    return [each.strip() for each in line.strip("| ").split("|")]


def test_two_of_ten_columns_take_a_fifth_of_a_columnar_file_and_all_of_another(out):
    text = (out / "reads.md").read_text(encoding="utf-8")
    share = row_of(text, "Feather, no codec")[2]
    assert 20 < float(share.rstrip("%")) < 21
    assert row_of(text, "Pickle")[2] == "100.0% *"
    assert "## The columns c2 and c7" in text
    assert "the columns c2 and c7 of the rows with c2 < 30" in text


def test_the_picture_has_a_strip_and_words_for_each_format(out):
    text = (out / "reads.svg").read_text(encoding="utf-8")
    words = re.search(r"<desc>(.*)</desc>", text)[1]
    assert re.fullmatch(
        r"Feather, no codec: 20\.\d% of 3\.2\d? MB in \d+ requests. "
        r"Pickle: 100.0% of 3\.2\d? MB in \d+ requests.",
        words,
    )
    assert picture.SHADES[0].colour.lower() in text
    with Image.open(out / "reads.png") as found:
        assert found.width == 2 * picture.WIDTH


def test_the_measured_files_are_removed(out):
    assert sorted(each.name for each in out.iterdir() if each.suffix != ".json") == [
        *("maps", "mine.parquet", "reads.md", "reads.png", "reads.svg", "results.jsonl")
    ]
    assert "*Measured on " in (out / "reads.md").read_text(encoding="utf-8")


def test_the_figures_are_records_that_name_their_maps(out):
    found = load(out).records
    assert {each.suite for each in found} == {"reads"}
    of_columns = {(each.format, each.metric): each for each in found if each.query == "columns"}
    share = of_columns["Feather", "read amplification"]
    assert 0.2 < share.value < 0.21
    assert (share.cache, share.conditions["method"]) == ("cold", "exact")
    assert share.conditions["asked"] == "the columns c2 and c7"
    kept = ReadMap.read(out / share.sentence.removeprefix("map in "))
    assert (kept.share, kept.requests) == (share.value, of_columns["Feather", "query requests"].value)
    assert "so everything is read" not in share.sentence
    assert of_columns["Pickle", "read amplification"].sentence.startswith("Pickle ")
    assert len(list((out / "maps").iterdir())) == len({each.sentence for each in found if each.query})
    assert "read amplification" in report.page(load(out))


def test_an_upper_bound_has_no_requests_and_a_missing_map_a_reason(tmp_path):
    data = Data("arrays", "toy", 3, tmp_path)
    reads = np.array([(0, 0, 0, 50, 0.0)], READS)
    bound = ReadMap(Method.RESIDENCY, {"": 100}, reads)
    asked = data.asked[0]
    answers = [
        Mapped(Configuration("NPY"), asked, bound),
        Mapped(Configuration("HDF5", "gzip"), asked, None, "unavailable: h5py is missing"),
    ]
    assert list(mapping.kept(data, answers, tmp_path / "out")) == answers
    bounded, missing = study_rows.read(mapping.FORM, tmp_path / "out")
    assert (bounded.share, bounded.requests, bounded.method) == (0.5, None, "residency")
    assert (missing.status, missing.sentence) == ("unavailable", "h5py is missing")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--columns", "nothing", "--rows", 10], "there is no column 'nothing'"),
        (["--where", "PX about 3", "--rows", 10], "'PX about 3' is not of the form 'COLUMN < NUMBER'"),
        (["NoSuchFormat", "--rows", 10], "there is no data format 'NoSuchFormat'"),
    ],
)
def test_bad_input_is_refused_in_one_line(arguments, sentence, tmp_path, monkeypatch):
    # No format's own environment is built there.
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    done = run("study", "reads", *arguments, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


# --- questions -------------------------------------------------------------------------------------


def test_columns_are_those_wanted_those_of_the_paper_or_two_far_apart():
    names = [f"c{at}" for at in range(9)]
    assert questions.columns_of(names, ["c3"]) == ("c3",)
    assert questions.columns_of([*names, *questions.SPARSE], []) == questions.SPARSE
    assert questions.columns_of(names, []) == ("c3", "c6")
    assert questions.columns_of(["only"], []) == ("only",)


@pytest.mark.parametrize(
    ("text", "comparisons"),
    [
        ("a < 3", [Comparison("a", "<", 3)]),
        ("a<=-3.5 and b != x y", [Comparison("a", "<=", -3.5), Comparison("b", "!=", "x y")]),
        ("a == '3'", [Comparison("a", "==", "3")]),
        ("a == true", [Comparison("a", "==", True)]),
    ],
)
def test_conditions_are_parsed(text, comparisons):
    assert questions.predicate_of(text) == Predicate(comparisons)


@pytest.mark.parametrize("text", ["", "a", "a <", "and", "a = 3"])
def test_texts_of_another_form_are_no_conditions(text):
    with pytest.raises(InvalidSelectionError):
        questions.predicate_of(text)


def test_images_have_no_columns(tmp_path):
    data = Data("images", "cifar-like", 3, tmp_path)
    with pytest.raises(InvalidSelectionError, match="tables only"):
        mapping.with_selection(data, ["a"], None)
    assert [each.question for each in data.asked] == ["image", "batch", "whole"]


def test_records_have_no_questions_yet(tmp_path):
    from data_generator import datasets

    name = next(each for each in datasets.names() if datasets.find(each).family == "records")
    with pytest.raises(UserDataError, match="no questions to records"):
        mapping.generated(name, 1, tmp_path)


# --- arrays and images -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dataset", "label", "question"),
    [("era5-small", "NPY", Question.PLANE), ("cifar-like", "PNG", Question.IMAGE)],
)
def test_a_part_of_an_array_or_set_takes_its_own_share(dataset, label, question, tmp_path):
    reason = reason_against_exact()
    if reason:
        pytest.skip(f"exact maps are not possible here: {reason}")
    data = mapping.generated(dataset, 20, tmp_path)
    (case,) = mapping.cases(data, [label], [None])
    found = {each.asked.question: each.map for each in mapping.maps(data, case)}
    assert list(found) == list(questions.QUESTIONS[data.family])
    assert 0.25 / 20 < found[question].share < 2.5 / 20
    assert found[Question.WHOLE].share > 0.99


# --- picture and page of known maps ----------------------------------------------------------------

ASKED = Asked("tables", Question.COLUMNS, ("a",))


def map_of(*reads, method=Method.EXACT, read_ahead=None):
    table = np.array([(0, 0, offset, size, 0.0) for offset, size in reads], READS)
    return ReadMap(method, {"": 4_800}, table, read_ahead)


def test_cells_show_places_in_the_order_of_the_requests_and_how_often_they_were_read():
    cells = picture.cells_of(map_of((0, 2_400), (2_400, 2_400), (0, 10)))
    assert cells.shape == (3, picture.PLACES)
    half = picture.PLACES // 2
    assert (cells[0, :half] == 1).all()
    assert not cells[0, half:].any()
    assert (cells[1, half:] == 1).all()
    assert cells[2].tolist() == [2] + [0] * (picture.PLACES - 1)


def test_many_requests_share_turns_and_none_leave_the_strip_empty():
    assert len(picture.cells_of(map_of(*[(at, 1) for at in range(1_000)]))) == picture.TURNS
    assert not picture.cells_of(map_of()).any()


def test_residency_is_shown_as_an_upper_bound_with_the_read_ahead():
    bound = map_of((0, 480), method=Method.RESIDENCY, read_ahead=131_072)
    data = Data("tables", "mine", 5, Path(), ("a",))
    answers = [
        Mapped(Configuration("CSV"), ASKED, bound),
        Mapped(Configuration("XML"), ASKED, None, "failed: no"),
    ]
    text = shares.page(data, answers, None, []).markdown()
    assert "upper bounds" in text
    assert "131 kB" in text
    assert row_of(text, "CSV")[2:4] == ["≤ 10.0%", "unknown"]
    assert "- **XML**: failed: no" in text
    assert picture.words(answers) == "CSV: at most 10.0% of 4.8 kB."
    assert picture.chart(data, answers).svg.count(picture.RESIDENT.name) == 1
