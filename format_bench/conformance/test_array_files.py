"""Files of array stores: replaced as a whole, damaged, missing, compressed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from adapter_core import CannotHoldError, Trait, UnknownLevelError, UnknownNameError, UnsupportedError
from adapter_core.array_source import ArraySource
from adapter_core.array_store import Property
from data_generator.synthetic.edge_case_arrays import described, values
from format_bench.conformance.arrays import a_dtype_of, difference, smooth
from format_bench.conformance.code_events import code_events
from format_bench.conformance.files import largest_file
from format_bench.instruments.touch import is_mapped


def test_a_save_replaces_an_earlier_array(store, path):
    dtype = a_dtype_of(store)
    store.save(values((6, 8, 12), dtype), path, (1, 8, 12))
    saved = values((2, 10, 14), dtype)
    store.save(saved, path, (1, 10, 14))
    assert not difference(store, saved, store.read(path))
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_safe_reader_runs_no_code(store, path):
    if Trait.SAFE not in (store.traits or ()):
        pytest.skip(f"{store.label} does not claim to be safe")
    store.save(values((3, 8, 12), a_dtype_of(store)), path, (1, 8, 12))
    store.read(path)
    with code_events() as events:
        store.read(path)
    assert events == []


def test_mapped_arrays_are_declared(store, path):
    store.save(values((3, 64, 128), a_dtype_of(store)), path, (1, 64, 128))
    with store.open(path) as reader:
        found = [reader.read(each) for each in (None, (slice(1, 2),), (slice(2), slice(5, 9)))]
        mapped = [is_mapped(each.__array_interface__["data"][0]) for each in found]
        # A mapped array is touched within the clock, any other is not.
        assert any(mapped) is reader.maps_files


def test_a_failed_save_leaves_the_earlier_array(store, path):
    dtype = a_dtype_of(store)
    saved = values((3, 8, 12), dtype)
    store.save(saved, path, (1, 8, 12))

    def read(selection):
        if selection[0].start == 2:
            raise OSError("the source is gone")
        return values((1, 8, 12), dtype)

    with pytest.raises(OSError, match="the source is gone"):
        store.save(ArraySource((3, 8, 12), np.dtype(dtype), (1, 8, 12), read), path)
    assert not difference(store, saved, store.read(path))
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_missing_file_or_folder_is_named(store, path):
    for call in (store.read, store.open, store.codec_used):
        with pytest.raises(FileNotFoundError, match=path.name):
            call(path)
    with pytest.raises(FileNotFoundError, match="no folder"):
        store.save(values((2, 8, 12), a_dtype_of(store)), path / "deeper" / path.name)


def test_a_truncated_file_is_noticed_if_declared(store, path):
    saved = values((8, 24, 32), a_dtype_of(store))
    store.save(saved, path, (1, 24, 32))
    largest = largest_file(path)
    size = largest.stat().st_size
    for kept in (0, size // 2, size - 1):
        with largest.open("r+b") as file:
            file.truncate(kept)
        if not store.detects_truncation:
            continue
        with pytest.raises(Exception, match=r"."):
            store.read(path)


def test_names_with_special_characters(store, path):
    saved = values((3, 8, 12), a_dtype_of(store))
    folder = path.parent / "50 % [a-z]*?'s {0}"
    folder.mkdir()
    place = folder / f"x[{store.label}] #1{store.suffix}"
    store.save(saved, place, (1, 8, 12))
    assert not difference(store, saved, store.read(place))


def test_chunks_must_match_the_shape(store, path):
    array = values((3, 8, 12), a_dtype_of(store))
    for chunks in ((3, 8), (0, 8, 12)):
        with pytest.raises(ValueError, match="chunks"):
            store.save(array, path, chunks)


def test_uncompressed_by_default(store, path):
    source = smooth(a_dtype_of(store))
    store.save(source, path)
    assert store.codec_used(path) is None
    assert store.size_bytes(path) >= (0.4 if store.error else 0.9) * source.size_bytes


def test_unknown_codecs_and_levels(store, path):
    array = values((3, 8, 12), a_dtype_of(store))
    with pytest.raises(UnknownLevelError):
        store.save(array, path, level=3)
    if not store.codecs:
        with pytest.raises(UnsupportedError, match="no choice of a codec"):
            store.save(array, path, codec="zstd")
        return
    with pytest.raises(UnknownNameError):
        store.save(array, path, codec="no such codec")
    for codec in store.codecs:
        if codec.levels:
            with pytest.raises(UnknownLevelError):
                store.save(array, path, codec=codec.name, level=codec.levels[-1] + 1)
    assert not path.exists()


def test_each_codec_is_in_the_file(store, codec, level, path):
    facts = described()
    source = replace(smooth(a_dtype_of(store, codec)), **facts)
    try:
        store.save(source, path, codec=codec.name, level=level)
    except CannotHoldError as error:
        # Packed integers cannot keep every bound.
        assert codec.bounds, f"{codec.name} supports none of the dtypes: {error}"
        assert "steps of the bound" in str(error)
        return
    assert store.codec_used(path) == codec.name
    saved = source.read(tuple(slice(0, edge) for edge in source.shape))
    with store.open(path) as reader:
        assert not difference(store, saved, reader.read(), codec, level or 0)
        if Property.COORDINATES in store.keeps:
            for name, expected in facts["coordinates"].items():
                np.testing.assert_array_equal(reader.coordinates[name], expected)


def test_each_codec_makes_smooth_fields_smaller(store, codec, path):
    source = smooth(a_dtype_of(store, codec), steps=16)
    store.save(source, path)
    plain = store.size_bytes(path)
    store.save(source, path, codec=codec.name)
    assert store.size_bytes(path) < plain


def test_ragged_chunks_and_every_dtype_with_each_codec(store, codec, share_of, path):
    for dtype in share_of(sorted(store.dtypes), codec.name):
        saved = values((5, 9, 14), dtype)
        try:
            store.save(saved, path, (2, 4, 14), codec=codec.name)
        except CannotHoldError:
            continue
        assert not difference(store, saved, store.read(path), codec, codec.default_level or 0)
