"""The image suite on a nearly full disk."""

from __future__ import annotations

import os
from dataclasses import replace
from types import SimpleNamespace

import pytest

from format_bench.asv_support import cell as asv_cell
from format_bench.asv_support.cell import CellRun
from format_bench.asv_support.run import prepare_data
from format_bench.results.suites import FAMILIES, SUITES

SET = "cifar-like"


@pytest.fixture
def cell(tmp_path, monkeypatch):
    """Return the cell of a storage, in a run of the suite that has just started."""
    monkeypatch.chdir(tmp_path)
    suite = replace(SUITES["image"], datasets=(SET,), sizes={"tiny": 3})
    prepare_data(FAMILIES["images"], suite, "tiny")
    made = CellRun(FAMILIES["images"], suite, "Image", ("NumPy", SET), "tiny", 60)
    made.start()
    made.journal.unwatch()
    yield made
    asv_cell._load.cache_clear()


def free(monkeypatch, *sizes_bytes: int) -> None:
    """Set the free bytes of the disk for each time that they are asked for."""
    sizes = [*sizes_bytes]

    def usage(_):
        return SimpleNamespace(free=sizes.pop(0) if sizes[1:] else sizes[0])

    monkeypatch.setattr(asv_cell.shutil, "disk_usage", usage)


def save(cell):
    """Save like a benchmark of saving."""
    path = cell.new_path
    cell.operations.save(cell.data, path)
    cell.end()
    cell.keep(path)
    return path


def kept(cell):
    return cell.new_path.with_name(cell.new_path.name.replace("-new", "-kept"))


def test_a_file_is_kept_for_the_benchmarks_that_read(cell):
    assert not save(cell).exists()
    assert kept(cell).exists()


def test_a_file_is_not_kept_if_the_next_would_not_fit(cell, monkeypatch):
    raw_bytes = 3 * 32 * 32 * 3
    free(monkeypatch, raw_bytes * 2)
    cell.check()
    free(monkeypatch, raw_bytes)
    assert not save(cell).exists()
    assert not kept(cell).exists()


def test_kept_files_leave_their_room_to_a_save(cell, monkeypatch):
    save(cell)
    others = [kept(cell).with_name(f"{name}-kept.npys") for name in ("cifar-like-A", "cifar-like-B")]
    for seconds, each in enumerate([kept(cell), *others]):
        each.touch()
        os.utime(each, (seconds, seconds))
    raw_bytes = 3 * 32 * 32 * 3
    free(monkeypatch, 2 * raw_bytes)
    cell.check()
    assert all(each.exists() for each in others)
    free(monkeypatch, raw_bytes, raw_bytes, 2 * raw_bytes)
    cell.check()
    # Benchmarks go through the formats in one order: the oldest is read next.
    assert [each.exists() for each in (kept(cell), *others)] == [True, False, False]


def test_a_file_that_is_not_kept_is_saved_again_for_each_reading_benchmark(cell, monkeypatch):
    free(monkeypatch, 10**12, 0)
    assert cell.leave_file()
    images, _ = cell.operations.read(kept(cell))
    assert len(images) == 3
    free(monkeypatch, 10**12)
    assert not cell.leave_file()


def test_a_set_without_room_on_the_disk_is_unavailable(cell, monkeypatch):
    free(monkeypatch, 1000)
    with pytest.raises(NotImplementedError, match="the disk has 0 GB free; the data may take 0 GB"):
        cell.check()
