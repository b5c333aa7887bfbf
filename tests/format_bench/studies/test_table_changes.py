"""The study of changes to saved tables: verified changes, and its page."""

from __future__ import annotations

import re

import pytest

from adapter_core import UnsupportedError
from adapter_core.errors import InvalidRequestError, WrongValuesError
from data_formats.sqlite import Adapter
from format_bench.results import flat_csv
from format_bench.studies.declared import study
from format_bench.studies.declared.rows import Agenda
from format_bench.studies.tables import changes as table_changes
from format_bench.studies.tables.changes import ChangeResult

CHANGES = ["save", "append", "update", "delete", "add column"]


def page(results, folder):
    """Return the page of results, which were kept as CSV."""
    path = folder / "changes.csv"
    path.write_text(flat_csv.to_csv(ChangeResult, results), encoding="utf-8")
    rows, found = table_changes.CHANGES.read(path)
    return study.read("table-changes").page(found, rows).markdown()


def test_all_changes_of_a_format_are_measured_and_verified():
    results = list(table_changes.measure(Agenda(), "SQLite", 1_000, 10))
    assert [each.change for each in results] == CHANGES
    assert all(each.wall_seconds > 0 and each.read_seconds > 0 for each in results)
    assert results[0].written_bytes > 100_000 > results[3].written_bytes > 0
    assert all(each.reason == "" for each in results)


def test_an_unsupported_change_has_its_sentence_and_the_others_are_verified(tmp_path):
    results = list(table_changes.measure(Agenda(), "HDF5.table,TileDB", 1_000, 10))
    unsupported = {(each.format, each.change): each for each in results if each.reason}
    assert set(unsupported) == {
        ("HDF5.table", "add column"),
        *(("TileDB", change) for change in ("append", "update", "delete")),
    }
    assert [each.change for each in results] == 2 * CHANGES
    text = page(results, tmp_path)
    assert re.search(r"\| HDF5.table \| [^|]*; [^|]*\| .* \| unsupported \|\n", text)
    assert "TileDB deletes cells of sparse arrays only" in text
    assert re.search(r"\| TileDB \| - \| - \| - \| [\d.e-]+ \| - \|", text)


def test_a_change_that_does_something_else_is_refused(monkeypatch):
    monkeypatch.setattr(Adapter, "_delete", lambda *_: None)
    # In this process, where the adapter is the changed one, and which is not to be pinned.
    monkeypatch.setattr(table_changes.threads, "apply", lambda _: None)
    with pytest.raises(WrongValuesError, match="SQLite, delete: the table differs from pandas'"):
        table_changes.changes(ChangeResult("SQLite", 1_000, 10, ""))


def test_the_page_has_costs_reads_and_reasons(tmp_path):
    base = {"rows": 1_000_000, "changed_rows": 1_000, "cpu_seconds": 1.0, "file_bytes": 9_000_000}
    results = [
        ChangeResult(
            "Lance", change="save", wall_seconds=1.0, written_bytes=9_000_000, read_seconds=0.2, **base
        ),
        ChangeResult(
            "Lance", change="delete", wall_seconds=0.05, written_bytes=90_000, read_seconds=0.3, **base
        ),
        ChangeResult("DuckDB", 1_000_000, 1_000, "save", reason="it is locked"),
    ]
    text = page(results, tmp_path)
    assert "## 1,000,000 rows, of which 1000 change" in text
    assert "| Lance | 1,000; 9.0 | - | - | 50; 0.1 | - |" in text
    assert "| Lance | 200; 9.0 | - | - | 300; 9.0 | - |" in text
    assert "| Lance | - | - | 0.01 | - | - | - | 1.50 | - |" in text
    assert "it is locked" in text


def test_formats_without_changes_are_refused():
    assert {"DuckDB", "SQLite", "Lance", "Delta", "Iceberg", "HDF5.table", "TileDB"} <= set(
        table_changes.changeable()
    )
    with pytest.raises(UnsupportedError, match="Pickle changes no saved tables"):
        list(table_changes.measure(Agenda(), "Pickle", 100, 10))
    with pytest.raises(InvalidRequestError, match="at most half as many as --rows"):
        table_changes.CHANGES.measure(Agenda(), formats="SQLite", rows=100, changed=51)
