"""The page of record stores, and the outcomes of changed types."""

from __future__ import annotations

import pytest

import record_stores
from adapter_core import RecordStore
from format_bench.studies.tables.evolution import CHANGES, Evolution, outcome
from tests.commands import run
from tests.helpers import ROOT


@pytest.mark.costly("record_stores")
def test_the_page_is_that_of_the_adapters():
    answers = [record_stores.find(name).availability() for name in record_stores.names()]
    for answer in (*answers, record_stores.jvm.toolchain()):
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
