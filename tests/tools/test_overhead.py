"""Overhead of adapters: both sides do the same work, and a slow adapter is found."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

import data_formats
from data_formats.pickle import Adapter as Pickle
from tools import overhead


class Slow(Pickle):
    """Reads each file ten times, so that no noise hides it."""

    def _read(self, path, columns):
        for _ in range(9):
            super()._read(path, columns)
        return super()._read(path, columns)


class Wrong(Pickle):
    """Reads whole numbers as floats."""

    def _read(self, path, columns):
        df = super()._read(path, columns)
        return df.astype({name: float for name in df.columns if name == "id"})


def measured(adapter):
    return list(overhead.measured("tables", adapter, 2_000, 6, 0.0))


def test_a_slow_adapter_is_found_unless_its_cause_is_declared(monkeypatch):
    monkeypatch.setattr(overhead, "CAUSES", {})
    found = [each for each in measured(Slow()) if each.step == "read"]
    assert [each.is_over for each in found] == [True, True]
    assert all(len(each.ours) == len(each.plain) == 6 for each in found)
    compared = overhead.Compared("tables", "Pickle", 2_000, {}, found)
    (line,) = [line for line in overhead.report([compared]) if "compared" in line]
    assert line == "2 compared; 0 up to 1.05, or within noise; 2 above without a cause"

    monkeypatch.setattr(overhead, "CAUSES", {"tables: Pickle read": "it reads ten times"})
    assert not any(each.is_over for each in found)
    assert all("it reads ten times" in each.cells[-1] for each in found)


def test_results_that_differ_are_described():
    numbers, *_ = [each for each in measured(Wrong()) if each.step == "read"]
    assert "int64" in numbers.differs
    assert "id" in numbers.cells[-1]


def test_both_sides_of_a_pair_give_the_same():
    found = measured(data_formats.get("Parquet"))
    assert [each.step for each in found] == ["save", "read"] * 2
    assert [each.data for each in found[::2]] == ["numbers, 2,000 x 8", "mixed, 2,000 x 12"]
    assert [each.differs for each in found] == [""] * 4


def test_an_adapter_without_code_says_why():
    assert list(overhead.measured("tables", data_formats.find("XML[etree]"), 10, 1, 0.0)) == []


@pytest.mark.costly("tools.overhead", "tools.plain_pairs")
def test_the_command_prints_a_table_by_ratio():
    arguments = ["Pickle", "XML[etree]", "--family", "tables", "--rows", "300", "--pairs", "2"]
    done = CliRunner().invoke(overhead.main, arguments)
    family, header, _, *rows = done.stdout.rstrip().splitlines()
    assert family == "tables:"
    assert header.split("|")[1].strip() == "adapter"
    ratios = [float(row.split("|")[6]) for row in rows[:4]]
    assert ratios == sorted(ratios, reverse=True)
    assert rows[-1].startswith("- XML[etree]: no plain call: ")
    assert done.exit_code == ("0 above" not in rows[5])


def test_an_interrupted_comparison_goes_on(tmp_path, monkeypatch):
    asked, file = [], tmp_path / "times.jsonl"

    def compare(family, label, rows, *_):
        asked.append(label)
        if label == "ORC" and len(asked) == 2:
            raise KeyboardInterrupt
        found = [overhead.Overhead(family, label, "numbers", "read", [2.0] * 6, [2.0] * 6)]
        failed = asked == ["Feather"]
        facts = {"started": "2026-11-25T08:00", "load_average": {"start": [0.5, 1.0, 1.0]}}
        return overhead.Compared(family, label, rows, facts, found, "it crashed" * failed, failed)

    monkeypatch.setattr(overhead, "compare", compare)
    arguments = ["Feather", "ORC", "Parquet", "--family", "tables", "--out", str(file)]
    assert CliRunner().invoke(overhead.main, arguments).exit_code == 1
    with file.open("a") as cut:
        cut.write('{"family": "tables", "la')
    done = CliRunner().invoke(overhead.main, [*arguments, "--page"])
    # The one that failed is tried again.
    assert asked == ["Feather", "ORC", "Feather", "ORC", "Parquet"]
    again = CliRunner().invoke(overhead.main, [*arguments, "--page"])
    assert len(asked) == 5
    assert again.stdout == done.stdout
    assert again.stdout.startswith("# Overhead of adapters\n")
    assert "2026-11-25, 3 runs, load 0.5.*" in again.stdout
    assert "## Tables\n" in again.stdout
    assert "3 compared; 3 up to 1.05" in again.stdout


def test_a_ratio_that_needs_a_cause_is_measured_in_three_processes(tmp_path, monkeypatch):
    ratios = {"Feather": [1.2, 1.0, 1.0], "ORC": [1.2, 1.2, 1.2], "Parquet": [1.0]}

    def compare(family, label, rows, *_):
        ours = [2.0 * ratios[label].pop(0)] * 6
        found = [overhead.Overhead(family, label, f"numbers, {rows} x 8", "save", ours, [2.0] * 6)]
        facts = {"started": "2026-11-25T08:00", "load_average": {"start": [0.5, 1.0, 1.0]}}
        return overhead.Compared(family, label, rows, facts, found)

    monkeypatch.setattr(overhead, "compare", compare)
    monkeypatch.setattr(overhead, "CAUSES", {})
    arguments = [*ratios, "--family", "tables", "--out", str(tmp_path / "times.jsonl")]
    done = CliRunner().invoke(overhead.main, arguments)
    assert not any(ratios.values())
    assert done.exit_code == 1
    assert "3 compared; 2 up to 1.05, or within noise; 1 above without a cause" in done.stdout
    # A later call has all processes of each.
    assert CliRunner().invoke(overhead.main, arguments).stdout == done.stdout
