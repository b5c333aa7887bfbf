"""Traps of TileDB."""

from pathlib import Path

import numpy as np

import array_stores

SHAPE, CHUNKS = (16, 512, 512), (1, 32, 64)


def _bytes_read() -> int:
    """Return the bytes that this process has read by calls of the system, cached or not."""
    return int(Path("/proc/self/io").read_text().split()[1])


def test_many_small_chunks_are_one_fragment(tmp_path: Path) -> None:
    store, path = array_stores.get("TileDB"), tmp_path / "small.tdb"
    saved = np.random.default_rng(0).random(SHAPE, np.float32)
    store.save(saved, path, CHUNKS)
    assert len(list((path / "__fragments").iterdir())) == 1
    with store.open(path) as reader:
        assert reader.chunks == CHUNKS
        assert np.array_equal(reader.read(), saved)


def test_a_series_does_not_read_the_tiles_between_its_own(tmp_path: Path) -> None:
    store, path = array_stores.get("TileDB"), tmp_path / "series.tdb"
    saved = np.random.default_rng(0).random(SHAPE, np.float32)
    store.save(saved, path, CHUNKS)
    with store.open(path) as reader:
        before = _bytes_read()
        found = reader.read((slice(None), slice(100, 101), slice(100, 101)))
        read_bytes = _bytes_read() - before
    assert np.array_equal(found, saved[:, 100:101, 100:101])
    assert read_bytes < saved.nbytes / 8
