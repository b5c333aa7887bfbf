"""Invalid input of all kinds: one clear line each, without a crash, a delay or other output."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from adapter_core.errors import InvalidDataError, UnavailableError
from data_generator.readers import _arrow, _reader
from data_generator.user.table import load_table
from tests.factories.bad_files import EVERY, folder, refused, workbook
from tests.factories.files import ROWS, WRITERS, write


@pytest.mark.timeout(20)
@pytest.mark.parametrize("case", EVERY)
def test_bad_input_is_reported_in_one_line(case, tmp_path, capfd):
    make, expected = EVERY[case]
    assert refused(make(tmp_path)).startswith(expected)
    assert capfd.readouterr() == ("", "")


def test_a_folder_is_not_a_table(tmp_path):
    with pytest.raises(
        InvalidDataError, match="is a folder without a table in it; give one file, or a Lance"
    ):
        load_table(tmp_path)


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl"])
def test_text_that_is_cut_is_shorter_or_reported(name, tmp_path):
    path = write(name, tmp_path)
    data = path.read_bytes()
    for share in (0.1, 0.5, 0.99):
        path.write_bytes(data[: int(share * len(data))])
        try:
            assert len(load_table(path).df) < ROWS * (share + 0.05)
        except InvalidDataError:
            refused(path)


REPORTED = set(WRITERS) - {"a.csv", "a.tsv", "a.jsonl", "a.lance"}


@pytest.mark.parametrize("name", sorted(REPORTED))
def test_any_other_file_that_is_cut_is_reported(name, tmp_path):
    path = write(name, tmp_path)
    data = path.read_bytes()
    # HDF5 takes a process for each.
    for share in (0.5,) if name.endswith("h5") else (0.1, 0.5, 0.9, 0.99):
        path.write_bytes(data[: int(share * len(data))])
        refused(path)


def test_a_data_set_that_lacks_its_data_is_reported(tmp_path, capfd):
    path = write("a.lance", tmp_path)
    (data,) = (path / "data").iterdir()
    data.unlink()
    assert refused(path).startswith("cannot be read as Lance: ")
    assert capfd.readouterr() == ("", "")


@pytest.fixture
def reachable():
    """Return a folder that any user can reach: pytest closes its own folders to other users."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        path.chmod(0o755)
        yield path


@pytest.mark.parametrize(
    "make", [lambda f: write("a.csv", f), lambda f: write("a.lance", f), folder("1.png")]
)
def test_an_unreadable_path_is_reported(make, reachable):
    path = make(reachable)
    path.chmod(0)
    code = (
        "import sys\n"
        "from data_generator.user.load import load_data\n"
        "from adapter_core.errors import FormatBenchError\n"
        "import os\n"
        "if not os.getuid():\n"
        "    os.setuid(65534)\n"
        "try:\n"
        "    load_data(sys.argv[1])\n"
        "except FormatBenchError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, check=False
    )
    path.chmod(0o700)
    assert done.stderr == ""
    expected = "cannot be opened: this user may not read it; change its permissions"
    assert done.stdout == f"{path}: {expected}\n"


def test_a_database_that_is_open_elsewhere_is_reported(tmp_path):
    path = write("a.duckdb", tmp_path)
    code = "import duckdb, sys; d = duckdb.connect(sys.argv[1]); print(flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        other.stdout.readline()
        problem = refused(path)
        other.stdin.close()
    assert problem.startswith("cannot be read as DuckDB: IO Error: Could not set lock on file")
    assert problem.endswith("; end the program that has it open")


def test_a_locked_database_is_reported(tmp_path):
    path = write("a.sqlite", tmp_path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        expected = "cannot be read as SQLite: database is locked; end the program that has it open"
        assert refused(path) == expected


def test_an_encrypted_archive_is_reported(tmp_path):
    path = write("a.xlsx", tmp_path)
    data = bytearray(path.read_bytes())
    entry = data.index(b"PK\1\2")
    data[entry + 8] |= 1
    path.write_bytes(data)
    assert refused(path) == "is encrypted; save it without a password"


def test_cells_with_errors_are_nulls(tmp_path):
    path = workbook(lambda book: [book.active.append(row) for row in (["a"], ["#DIV/0!"], [2])])(
        tmp_path
    )
    assert load_table(path).df["a"].isna().tolist() == [True, False]


def test_more_than_fits_in_memory_is_reported_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(_reader, "available_bytes", lambda: 5_000)
    for name in ("a.parquet", "a.xlsx"):
        problem = refused(write(name, tmp_path))
        assert problem.startswith("declares 0.0 GB, and 0.0 GB of memory are free; take a part of it")
    assert len(load_table(tmp_path / "a.parquet", sample_rows=10).df) == 10


def test_a_reader_that_is_missing_is_reported_with_an_install_hint(tmp_path, monkeypatch):
    path = write("a.avro", tmp_path)
    monkeypatch.setitem(sys.modules, "fastavro", None)
    expected = (
        "the reader of Avro files is unavailable: .*fastavro.*; try: python -m pip install fastavro"
    )
    with pytest.raises(UnavailableError, match=expected):
        load_table(path)


def test_defects_of_our_own_are_not_taken_for_bad_data(tmp_path, monkeypatch):
    def defective(*_):
        raise KeyError("ours")

    monkeypatch.setattr(_arrow, "_chosen", defective)
    with pytest.raises(KeyError, match="ours"):
        load_table(write("a.parquet", tmp_path))
