"""Traps of python-blosc2 that the array store avoids."""

from __future__ import annotations

import numpy as np
import pytest

import array_stores
from adapter_core import ArraySource, CannotHoldError


def test_uncompressed_chunks_of_odd_shapes_are_not_padded(tmp_path):
    values = np.random.default_rng(1).random((4, 361, 720), "float32")
    store = array_stores.get("Blosc2")
    store.save(ArraySource.of(values, (1, 361, 720)), tmp_path / "a.b2nd")

    assert store.size_bytes(tmp_path / "a.b2nd") < 1.01 * values.nbytes


def test_a_truncated_file_raises_and_does_not_end_the_process(tmp_path):
    path = tmp_path / "a.b2nd"
    store = array_stores.get("Blosc2")
    store.save(np.arange(1_000_000.0), path, chunks=(100_000,))
    path.write_bytes(path.read_bytes()[:-10_000])

    with pytest.raises(ValueError, match="truncated"):
        store.read(path)


def test_bytedelta_is_refused_where_the_library_leaves_it_out(tmp_path):
    with pytest.raises(CannotHoldError, match="bytedelta"):
        array_stores.get("Blosc2").save(np.zeros(9, "uint8"), tmp_path / "a", codec="lz4+bytedelta")
