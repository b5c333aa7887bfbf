"""Declared codecs of table formats, proven by their files."""

from __future__ import annotations

import shutil
import sys

import pytest

from adapter_core import Feature, UnavailableError, UnknownLevelError, UnknownNameError, UnsupportedError
from format_bench.conformance.files import largest_file
from format_bench.conformance.tables import repetitive
from format_bench.verification.tables import verify


def test_a_table_comes_back_and_the_file_names_its_codec(adapter, codec, level, path):
    adapter.save(repetitive(), path)
    verdict = verify(repetitive(), adapter.read(path), *adapter.kept)
    size_bytes = adapter.size_bytes(path)
    adapter.save(repetitive(), path, codec.name, level)
    assert verify(repetitive(), adapter.read(path), *adapter.kept) == verdict
    assert adapter.codec_used(path) == codec.name
    assert adapter.size_bytes(path) < size_bytes


def test_without_a_codec_only_a_format_without_a_choice_compresses(adapter, path):
    adapter.save(repetitive(), path)
    assert adapter.codec_used(path) == (None if adapter.codecs else adapter.default_codec)
    adapter.remove(path)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        adapter.codec_used(path)


def test_rows_are_read_from_compressed_files(adapter, codec, path):
    if Feature.ROWS not in adapter.supports:
        pytest.skip(f"{adapter.label} has no {Feature.ROWS}")
    adapter.save(repetitive(), path, codec.name)
    read = adapter.read(path, rows=slice(150, 153))
    expected = repetitive()[150:153].reset_index(drop=True)
    assert verify(expected, read, *adapter.kept).errors == ()


def test_columns_are_projected_from_compressed_files(adapter, codec, path):
    if Feature.COLUMNS not in adapter.supports:
        pytest.skip(f"{adapter.label} has no {Feature.COLUMNS}")
    adapter.save(repetitive(), path, codec.name)
    read = adapter.read(path, columns=["word", "real"])
    assert verify(repetitive()[["word", "real"]], read, *adapter.kept).errors == ()
    with pytest.raises(UnknownNameError, match="there is no column 'reel'; did you mean real"):
        adapter.read(path, columns=["reel"])


def test_a_truncated_compressed_file_raises_or_is_declared_not_to(adapter, codec, path):
    cut = path.with_name(f"cut{adapter.suffix}")
    adapter.save(repetitive(), path, codec.name)
    for share in (0.1, 0.5, 0.9):
        adapter.remove(cut)
        shutil.copytree(path, cut) if path.is_dir() else shutil.copy(path, cut)
        longest = largest_file(cut)
        longest.write_bytes(longest.read_bytes()[: int(longest.stat().st_size * share)])
        try:
            adapter.read(cut)
        except Exception as error:
            assert str(error)
        else:
            # Streams of gzip and xz have an end marker, zstd's do not.
            assert not adapter.detects_truncation
            assert codec.name == "zstd"


def test_a_level_without_a_codec_and_an_unknown_codec_are_refused(adapter, path):
    with pytest.raises(UnknownLevelError, match="level 3 is given without a codec"):
        adapter.save(repetitive(), path, level=3)
    error = UnknownNameError if adapter.codecs else UnsupportedError
    with pytest.raises(error, match="codec"):
        adapter.save(repetitive(), path, "???")
    assert list(path.parent.iterdir()) == []


def test_a_level_outside_of_the_codec_is_refused(adapter, codec, path):
    if codec.levels:
        outside = (codec.levels[0] - 1, codec.levels[-1] + 1)
        words = f"{codec.name} has levels {codec.levels[0]} to {codec.levels[-1]}, not"
    else:
        outside, words = (1,), f"{codec.name} has no levels"
    for level in outside:
        with pytest.raises(UnknownLevelError, match=words):
            adapter.save(repetitive(), path, codec.name, level)
    assert list(path.parent.iterdir()) == []


def test_a_codec_without_its_package_leaves_the_format_available(adapter, path, monkeypatch):
    for codec in adapter.codecs:
        if codec.requires:
            assert codec.requires in adapter.requires
            monkeypatch.setitem(sys.modules, codec.requires, None)
            with pytest.raises(
                UnavailableError, match=f"with {codec.name} is unavailable: .*pip install"
            ):
                adapter.save(repetitive(), path, codec.name)
    assert adapter.availability()
    assert list(path.parent.iterdir()) == []
