"""The thesis' program beside this one: its turns, the records of both, and their tables."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from format_bench.results.load import load
from format_bench.studies.declared import kept_numbers
from tools import original_code
from tools.original_code import HERE, LATER, ORIGINAL, Program

# A program with the thesis' folders: its table is a list, and its only format is text.
PROGRAM = {
    "data_formats/hdf5fixed_format.py": "",
    "data_formats/__init__.py": """
import os, pathlib
FILE = pathlib.Path("tmp/test.csv")
class Csv:
    def save(self, table):
        assert not FILE.exists()
        FILE.write_text("".join(map(str, table)))
    def read(self): return FILE.read_text()
    def size(self): return FILE.stat().st_size
    def remove(self): FILE.unlink()
class Json(Csv):
    def read(self): os._exit(3)
""",
    "data_generator/__init__.py": """
class Table:
    def __init__(self, rows): self.df = list(range(rows))
class Generator:
    def gen_dataset(self, name, rows, *columns): return Table(rows)
""",
}


@pytest.fixture
def checkout(tmp_path):
    for name, text in PROGRAM.items():
        path = tmp_path / "checkout" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "checkout"


@pytest.fixture
def program(checkout, monkeypatch):
    found = Program(checkout, "3.10")
    monkeypatch.setattr(Program, "_interpreter", sys.executable)
    return found


def turn(checkout, *arguments):
    script = Path(original_code.__file__).with_name("original_turn.py")
    folder = checkout.parent
    command = [sys.executable, script, checkout, *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_a_turn_has_a_first_and_a_second_call(program, checkout, tmp_path):
    table = tmp_path / "table.pickle"
    program.make_table(table, 10)
    found = json.loads(turn(checkout, "Csv", table).stdout)
    assert found["size"] == 10
    assert [len(found[step]) for step in ("save", "read")] == [2, 2]
    assert all(each["wall"] > 0 for step in ("save", "read") for each in found[step])
    records = program.measure("CSV", table, 10)
    assert [*records] == [ORIGINAL, LATER]
    first = {each.metric: each for each in records[ORIGINAL]}
    assert {*first} == {*original_code.METRICS}
    assert first["read time"].conditions == {"cache": "warm", "threads": "all"}
    assert "pandas" in first["size"].sentence
    assert not list(tmp_path.glob("tmp/*"))


def test_a_process_that_ends_is_an_error(program, checkout, tmp_path):
    table = tmp_path / "table.pickle"
    program.make_table(table, 10)
    done = turn(checkout, "Json", table)
    assert done.returncode == 1
    assert "the process ended with 3" in done.stderr


def test_another_folder_is_refused(tmp_path):
    done = CliRunner().invoke(original_code.main, [str(tmp_path), "--out", str(tmp_path / "out")])
    assert done.exit_code == 2
    assert "is no checkout of the thesis' program" in done.output


def record(label, metric, value):
    return original_code._record(label, 100, metric, value)


def test_turns_are_samples_of_one_cell_and_an_interrupted_comparison_goes_on(tmp_path):
    for value in (1.0, 3.0):
        sides = {side: [record("CSV", "save time", value * factor)] for side, factor in zip(
            original_code.SIDES, (4, 2, 1), strict=True
        )}  # fmt: skip
        original_code.keep(tmp_path, sides)
    (found,) = load(tmp_path / ORIGINAL).records
    assert (found.value, found.repeats) == (8.0, [4.0, 12.0])
    assert original_code.turns_of(tmp_path, "CSV", 100) == {ORIGINAL: 2, HERE: 2}
    assert original_code.turns_of(tmp_path, "XML", 100) == {ORIGINAL: 0, HERE: 0}
    assert original_code.turns_of(tmp_path, "CSV", 200) == {ORIGINAL: 0, HERE: 0}
    lines = list(original_code.tables(tmp_path, 100, ["CSV", "XML"]))
    assert "| CSV | save | 8 s | 4 s | 2 s | 4.00 | 2.00 |" in lines
    assert "| XML | save | - | - | - | - | - |" in lines
    original_code.write_kept(tmp_path)
    (kept,) = kept_numbers.read(tmp_path / "thesis_original.csv")
    assert (kept.format, kept.metric, kept.value) == ("CSV", "save time", 8.0)


@pytest.mark.costly
def test_this_program_measures_one_call_of_each_step():
    (found,) = original_code.measure_here("Pickle", 100).values()
    assert {each.metric for each in found} == {*original_code.METRICS}
    assert all(each.format == "Pickle" and each.value > 0 for each in found)
