"""Files of tables: paths, replacement, damage."""

from __future__ import annotations

import re
import shutil

import pandas as pd
import pytest

from adapter_core import Trait
from format_bench.conformance.code_events import code_events
from format_bench.conformance.files import largest_file
from format_bench.conformance.tables import ordinary
from format_bench.instruments.page_cache import files_of
from format_bench.instruments.touch import arrays_of, is_mapped
from format_bench.verification.tables import verify


def test_a_safe_reader_runs_no_code(adapter, path):
    if Trait.SAFE not in (adapter.traits or ()):
        pytest.skip(f"{adapter.label} does not claim to be safe")
    adapter.save(ordinary(), path)
    adapter.read(path)
    with code_events() as events:
        adapter.read(path)
    assert events == []


def test_mapped_tables_are_declared(adapter, path):
    rows = 200
    adapter.save(pd.concat([ordinary()] * rows, ignore_index=True), path)
    df = adapter.read(path)
    mapped = [
        name
        for position, name in enumerate(df.columns)
        for values in arrays_of(df.iloc[:, position].array)
        if is_mapped(values.__array_interface__["data"][0])
    ]
    # A mapped table is touched within the clock, any other is not.
    assert bool(mapped) is adapter.maps_files, mapped


def test_an_earlier_file_is_replaced(adapter, path):
    adapter.save(ordinary(), path)
    shorter = ordinary().head(2)[["word", "real"]]
    adapter.save(shorter, str(path))
    assert verify(shorter, adapter.read(str(path)), *adapter.kept).errors == ()
    assert list(path.parent.iterdir()) == [path]


def test_an_earlier_file_survives_a_failed_save(adapter, path, monkeypatch):
    df = ordinary()
    adapter.save(df, path)

    def fail_half_way(_, target):
        target.write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(adapter, "_save", fail_half_way)
    with pytest.raises(OSError, match="disk full"):
        adapter.save(df.head(1), path)
    assert verify(df, adapter.read(path), *adapter.kept).errors == ()
    assert list(path.parent.iterdir()) == [path]


def test_a_file_replaces_a_directory_and_a_directory_a_file(adapter, path):
    path.mkdir()
    (path / "old").write_text("old")
    adapter.save(ordinary(), path)
    assert len(adapter.read(path)) == len(ordinary())
    adapter.remove(path)
    path.write_text("old")
    adapter.save(ordinary(), path)
    assert len(adapter.read(path)) == len(ordinary())
    assert list(path.parent.iterdir()) == [path]


def test_size_counts_all_files_and_remove_leaves_none(adapter, path):
    with pytest.raises(FileNotFoundError):
        adapter.size_bytes(path)
    adapter.save(ordinary(), path)
    assert adapter.size_bytes(path) == sum(len(file.read_bytes()) for file in files_of(path)) > 0
    adapter.remove(path)
    assert list(path.parent.iterdir()) == []
    adapter.remove(path)


@pytest.mark.parametrize("folder", ["with blanks", "größe-名前", "year=2026", "a.b", "%41#?&", "[x]*"])
def test_paths_may_contain_any_character(adapter, tmp_path, folder):
    path = tmp_path / folder / f"my table{adapter.suffix}"
    path.parent.mkdir()
    adapter.save(ordinary(), path)
    assert verify(ordinary(), adapter.read(path), *adapter.kept).errors == ()


def test_a_relative_path_works(adapter, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    adapter.save(ordinary(), f"table{adapter.suffix}")
    assert len(adapter.read(f"table{adapter.suffix}")) == len(ordinary())


def test_a_missing_file_is_named(adapter, path):
    with pytest.raises(FileNotFoundError, match=re.escape(f"{adapter.label}: there is no file")):
        adapter.read(path)


def test_a_missing_folder_is_named(adapter, tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        adapter.save(ordinary(), tmp_path / "missing" / f"table{adapter.suffix}")


def test_a_folder_without_its_largest_file_is_an_error(adapter, path):
    adapter.save(ordinary(), path)
    if not path.is_dir():
        pytest.skip(f"{adapter.label} writes one file")
    largest_file(path).unlink()
    with pytest.raises(Exception, match=r"\S"):
        adapter.read(path)


def test_a_truncated_file_raises_or_is_declared_not_to(adapter, path, tmp_path):
    df = pd.concat([ordinary()] * 500, ignore_index=True)
    adapter.save(df, path)
    silent = []
    for share in (0.0, 0.1, 0.5, 0.9, 0.99):
        cut = tmp_path / f"cut{adapter.suffix}"
        adapter.remove(cut)
        shutil.copytree(path, cut) if path.is_dir() else shutil.copy(path, cut)
        longest = largest_file(cut)
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
