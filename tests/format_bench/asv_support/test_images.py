"""What the image suite does where the disk is nearly full."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import image_storages
from format_bench.asv_support import images as asv_images
from format_bench.asv_support.images import ImageCell, load, prepare_images

SET = "cifar-like"


@pytest.fixture
def cell(tmp_path, monkeypatch):
    """Return the cell of a storage, in a run of the suite that has just begun."""
    monkeypatch.chdir(tmp_path)
    prepare_images({SET: 3}, "image", "tiny")
    yield ImageCell("image.Image", ("NumPy", SET), "tiny", 60)
    load.cache_clear()


@pytest.fixture
def adapter():
    return image_storages.get("NumPy")


def free(monkeypatch, *sizes_bytes: int) -> None:
    """Let so much of the disk be free when it is asked for the first time, and so on."""
    sizes = [*sizes_bytes]

    def usage(_):
        return SimpleNamespace(free=sizes.pop(0) if sizes[1:] else sizes[0])

    monkeypatch.setattr(asv_images.shutil, "disk_usage", usage)


def save(cell, adapter):
    """Save as a benchmark of saving does."""
    path = cell.path(adapter, "new")
    adapter.save(*load(SET), path)
    cell.end()
    cell.keep(adapter, path)
    return path


def test_a_file_is_kept_for_the_suites_that_read(cell, adapter):
    assert not save(cell, adapter).exists()
    kept = cell.path(adapter)
    assert cell.saved(adapter) == kept
    cell.end()
    assert kept.exists()


def test_no_file_is_kept_where_the_next_would_have_no_room(cell, adapter, monkeypatch):
    raw_bytes = 3 * 32 * 32 * 3
    free(monkeypatch, raw_bytes * 2)
    cell.check(adapter)
    free(monkeypatch, raw_bytes)
    assert not save(cell, adapter).exists()
    assert not cell.path(adapter).exists()


def test_what_is_not_kept_is_saved_for_each_that_reads(cell, adapter, monkeypatch):
    free(monkeypatch, 10**12, 0)
    images, _ = adapter.read(cell.saved(adapter))
    assert len(images) == 3
    cell.end()
    assert not cell.path(adapter).exists()
    free(monkeypatch, 10**12)
    assert cell.saved(adapter).exists()


def test_a_set_for_which_there_is_no_room_is_unavailable(cell, adapter, monkeypatch):
    free(monkeypatch, 1000)
    with pytest.raises(NotImplementedError, match="the disk has 0 GB free; the set may take 0 GB"):
        cell.check(adapter)
