"""The page of record stores, and the outcomes of changed types."""

from __future__ import annotations

import importlib.util
import shutil

import pytest

import data_formats
import record_stores
from adapter_core import RecordStore
from adapter_core.errors import UnavailableError
from format_bench.instruments.isolation import Outcome
from format_bench.results.status import CellStatus
from format_bench.studies.tables import root_classes, stores
from format_bench.studies.tables.evolution import CHANGES, Evolution, outcome
from tests.commands import run
from tests.helpers import ROOT


@pytest.mark.costly("record_stores")
def test_the_page_is_that_of_the_adapters():
    answers = [record_stores.find(name).availability() for name in record_stores.names()]
    for answer in (
        *answers,
        record_stores.jvm.toolchain(),
        data_formats.find("ROOT.TTree[ROOT]").availability(),
    ):
        if not answer:
            pytest.skip(f"{answer.reason}; try: {answer.install_hint}")
    # Made by: format-bench study record-stores > docs/records.md
    done = run("study", "record-stores")
    assert done.returncode == 0, done.stderr
    assert (ROOT / "docs/records.md").read_text(encoding="utf-8") == done.stdout


class Reader(RecordStore):
    """A store that returns given values instead of a file's."""

    label = "Reader"
    suffix = ".reader"
    requires = ()

    def __init__(self, *rows) -> None:
        self.rows = rows

    def plain(self, of):
        return of.plain_of_sequence

    def _save(self, objects, of, path, codec=None, level=None):  # noqa: ARG002 (as the base class)
        path.touch()

    def _read(self, path, of):  # noqa: ARG002 (as the base class)
        if not self.rows:
            raise ValueError("the file has another type")
        return list(self.rows)


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        ([5], Evolution.RIGHT),
        ([0], Evolution.ZERO),
        ([None], Evolution.ABSENT),
        ([], Evolution.ABSENT),
        ([6], Evolution.WRONG),
    ],
)
def test_outcomes_are_told_apart(last, expected):
    store = Reader((7, "g", "word of the first", *last), (-8, "", "word of the second", *last))
    assert outcome(store, "field added at the end") is expected


def test_a_read_that_fails_is_an_error():
    assert outcome(Reader(), "field removed") is Evolution.ERROR
    assert {outcome(record_stores.get("JSON"), each) for each in CHANGES} == {
        Evolution.ABSENT,
        Evolution.RIGHT,
    }


@pytest.mark.costly("format_bench.studies.tables.root_classes")
@pytest.mark.skipif(
    importlib.util.find_spec("ROOT") is None or shutil.which("g++") is None,
    reason="needs ROOT and g++",
)
def test_newer_classes_read_the_files_of_root():
    changes = [
        "field renamed, with an I/O rule",
        "field renamed, without a rule",
        "int32 widened to int64",
    ]
    found = root_classes.outcomes(changes)
    assert found == {
        (way, change): Evolution.ABSENT if "without" in change else Evolution.RIGHT
        for way in root_classes.WAYS
        for change in changes
    }


def test_a_member_of_root_that_nothing_was_read_into_is_absent():
    fields = {each.name: each for newer, _ in root_classes.CLASSES.values() for each in newer.fields}

    class Object:
        word = title = ""

    assert root_classes._value(Object, fields["word"]) == ""
    assert root_classes._value(Object, fields["title"]) is None


def test_without_root_its_classes_have_a_reason(monkeypatch):
    monkeypatch.setattr(root_classes, "import_failure", lambda _: "ROOT is not installed")
    monkeypatch.setattr(root_classes.isolation, "run", in_this_process)
    (block,) = stores.classes_of_root(None)
    assert "ROOT is not installed" in block.text
    assert not block.rows


def in_this_process(step, *arguments, limit_seconds):
    del limit_seconds
    try:
        return Outcome(step(*arguments))
    except UnavailableError as error:
        return Outcome(status=CellStatus.FAILED, sentence=str(error))
