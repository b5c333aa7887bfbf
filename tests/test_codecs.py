"""The codecs of table formats: those declared work, and files prove it."""

from __future__ import annotations

import functools
import shutil
import struct
import sys
from pathlib import Path

import fastavro
import numpy as np
import pandas as pd
import pytest
import tables

import data_formats
from adapter_core import DataFormat, Feature, Unavailable, UnknownLevel, UnknownName, Unsupported
from format_bench.verify import Verdict, verify

ROWS = 400

LABELS = data_formats.names()
CODECS = {(label, codec.name): codec for label in LABELS for codec in data_formats.find(label).codecs}
LEVELLED = [case for case, codec in CODECS.items() if codec.levels]


def cases() -> list[tuple[str, str, int | None]]:
    """Return each codec of each format, at its lowest, default and highest level."""
    found = []
    for (label, name), codec in CODECS.items():
        levels = {codec.levels[0], codec.default_level, codec.levels[-1]} if codec.levels else {None}
        found += [(label, name, level) for level in sorted(levels)]
    return found


def repetitive() -> pd.DataFrame:
    """Return one column of each common type, which any codec makes smaller, shape (ROWS, 5).

    The letters are for ORC's LZ4, which finds little else.
    """
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "letters": ["a" * 300] * ROWS,
            "whole": rng.integers(0, 50, ROWS),
            "real": rng.integers(0, 1_000, ROWS) / 8,
            "truth": rng.random(ROWS) < 0.3,
            "word": [f"word {i % 97} of {i % 13}" for i in range(ROWS)],
        }
    )


def random_integers() -> pd.DataFrame:
    return pd.DataFrame({"n": np.random.default_rng(0).integers(0, 2**63, 30_000)})


def files_of(path: Path) -> list[Path]:
    return [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]


def data_of(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in files_of(path))


def ready(label: str, codec: str | None = None) -> DataFormat:
    adapter = data_formats.find(label)
    answer = adapter.availability()
    if answer and codec:
        answer = adapter.codec_availability(codec)
    if not answer:
        pytest.skip(f"{label}: {answer.reason}")
    return adapter


@pytest.fixture(scope="module")
def uncompressed(tmp_path_factory):
    """Return a function that gives the verdict and the size of the table saved without a codec."""

    @functools.cache
    def save(label: str) -> tuple[Verdict, int]:
        adapter = data_formats.get(label)
        path = tmp_path_factory.mktemp("plain") / f"table{adapter.suffix}"
        adapter.save(repetitive(), path)
        return verify(repetitive(), adapter.read(path), adapter.kept_digits), adapter.size_bytes(path)

    return save


@pytest.mark.parametrize(("label", "codec", "level"), cases())
def test_a_table_comes_back_and_the_file_names_its_codec(label, codec, level, tmp_path, uncompressed):
    adapter = ready(label, codec)
    path = tmp_path / f"table{adapter.suffix}"
    adapter.save(repetitive(), path, codec, level)
    verdict, size = uncompressed(label)
    assert verify(repetitive(), adapter.read(path), adapter.kept_digits) == verdict
    assert adapter.codec_used(path) == codec
    assert adapter.size_bytes(path) < size


@pytest.mark.parametrize("label", LABELS)
def test_without_a_codec_only_a_format_without_a_choice_compresses(label, tmp_path):
    adapter = ready(label)
    path = tmp_path / f"table{adapter.suffix}"
    adapter.save(repetitive(), path)
    assert adapter.codec_used(path) == (None if adapter.codecs else adapter.default_codec)
    with pytest.raises(FileNotFoundError, match=f"{label}: there is no file"):
        adapter.codec_used(tmp_path / "missing")


@pytest.mark.parametrize(("label", "codec"), CODECS)
def test_columns_are_projected_from_compressed_files(label, codec, tmp_path):
    adapter = ready(label, codec)
    if Feature.COLUMNS not in adapter.supports:
        pytest.skip(f"{label} has no {Feature.COLUMNS}")
    path = tmp_path / f"table{adapter.suffix}"
    adapter.save(repetitive(), path, codec)
    read = adapter.read(path, columns=["word", "real"])
    assert verify(repetitive()[["word", "real"]], read, adapter.kept_digits).errors == ()
    with pytest.raises(UnknownName, match="there is no column 'reel'; did you mean real"):
        adapter.read(path, columns=["reel"])


@pytest.mark.parametrize(("label", "codec"), CODECS)
def test_a_truncated_compressed_file_raises_or_is_declared_not_to(label, codec, tmp_path):
    adapter = ready(label, codec)
    path, cut = tmp_path / f"table{adapter.suffix}", tmp_path / f"cut{adapter.suffix}"
    adapter.save(repetitive(), path, codec)
    for share in (0.1, 0.5, 0.9):
        adapter.remove(cut)
        shutil.copytree(path, cut) if path.is_dir() else shutil.copy(path, cut)
        longest = max(files_of(cut), key=lambda file: file.stat().st_size)
        longest.write_bytes(longest.read_bytes()[: int(longest.stat().st_size * share)])
        try:
            adapter.read(cut)
        except Exception as error:
            assert str(error)
        else:
            # The streams of gzip and xz tell that their end is missing, which those of zstd do not.
            assert not adapter.detects_truncation
            assert codec == "zstd"


@pytest.mark.parametrize("label", LABELS)
def test_what_cannot_be_chosen_is_told_and_nothing_is_written(label, tmp_path):
    adapter = ready(label)
    path = tmp_path / f"table{adapter.suffix}"
    with pytest.raises(ValueError, match=f"{label}: level 3 is given without a codec"):
        adapter.save(repetitive(), path, level=3)
    if not adapter.codecs:
        with pytest.raises(Unsupported, match=f"{label} offers no choice of a codec"):
            adapter.save(repetitive(), path, "zstd")
        return
    with pytest.raises(
        UnknownName, match=f"there is no {label} codec '???'; known: ".replace("?", r"\?")
    ):
        adapter.save(repetitive(), path, "???")
    for codec in adapter.codecs:
        if codec.levels:
            outside = (codec.levels[0] - 1, codec.levels[-1] + 1)
            words = f"{codec.name} has levels {codec.levels[0]} to {codec.levels[-1]}, not"
        else:
            outside, words = (1,), f"{codec.name} has no levels"
        for level in outside:
            with pytest.raises(UnknownLevel, match=words):
                adapter.save(repetitive(), path, codec.name, level)
    assert list(tmp_path.iterdir()) == []


def test_the_packages_of_codecs_are_among_those_of_their_format():
    for (label, _), codec in CODECS.items():
        assert not codec.requires or codec.requires in data_formats.find(label).requires


@pytest.mark.parametrize(
    "label", sorted({label for (label, _), codec in CODECS.items() if codec.requires})
)
def test_a_codec_without_its_package_leaves_the_format_available(label, tmp_path, monkeypatch):
    adapter = ready(label)
    wanting = [codec for codec in adapter.codecs if codec.requires]
    for codec in wanting:
        monkeypatch.setitem(sys.modules, codec.requires, None)
        with pytest.raises(
            Unavailable, match=f"{label} with {codec.name} is unavailable: .*pip install"
        ):
            adapter.save(repetitive(), tmp_path / "table", codec.name)
    assert adapter.availability()
    assert list(tmp_path.iterdir()) == []


def test_pytables_is_not_left_to_replace_a_codec_that_it_lacks(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "which_lib_version", lambda _: None)
    with pytest.raises(Unavailable, match="with lzo is unavailable: PyTables was built without lzo"):
        data_formats.get("HDF5.table").save(repetitive(), tmp_path / "t.h5", "lzo")
    assert list(tmp_path.iterdir()) == []


# What a user of each library writes; the second function gets the name of a codec.
PLAIN = {
    "CSV": (lambda df, p: df.to_csv(p), lambda df, p, c: df.to_csv(p, index=False, compression=c)),
    "Excel": (lambda df, p: df.to_excel(p), None),
    "Feather": (lambda df, p: df.to_feather(p), lambda df, p, c: df.to_feather(p, compression=c)),
    "HDF5.fixed": (lambda df, p: df.to_hdf(p, key="k"), None),
    "HDF5.table": (lambda df, p: df.to_hdf(p, key="k", format="table"), None),
    "JSON": (lambda df, p: df.to_json(p), None),
    "ORC": (lambda df, p: df.to_orc(p), None),
    "Parquet": (
        lambda df, p: df.to_parquet(p),
        lambda df, p, c: df.to_parquet(p, index=False, compression=c),
    ),
    "Pickle": (lambda df, p: df.to_pickle(p), lambda df, p, c: df.to_pickle(p, compression=c)),
    "XML": (
        lambda df, p: df.to_xml(p),
        lambda df, p, c: df.to_xml(p, index=False, compression=c),
    ),
}


@pytest.mark.parametrize("label", PLAIN)
def test_the_default_codec_is_what_the_library_takes(label, tmp_path):
    adapter = ready(label)
    path = tmp_path / f"table{adapter.suffix}"
    PLAIN[label][0](repetitive(), path)
    assert adapter.codec_used(path) == adapter.default_codec


def test_fastavro_compresses_nothing_by_default(tmp_path):
    path = tmp_path / "t.avro"
    schema = {"type": "record", "name": "r", "fields": [{"name": "a", "type": "string"}]}
    with path.open("wb") as file:
        fastavro.writer(file, schema, [{"a": "a" * 1_000}])
    assert data_formats.get("Avro").codec_used(path) == data_formats.get("Avro").default_codec


def test_lance_compresses_no_values_by_default(tmp_path):
    adapter = ready("Lance")
    import lance
    import pyarrow as pa

    lance.write_dataset(pa.Table.from_pandas(repetitive()), tmp_path / "t.lance")
    assert adapter.codec_used(tmp_path / "t.lance") == adapter.default_codec


@pytest.mark.parametrize(
    ("label", "codec"), [case for case in LEVELLED if PLAIN.get(case[0], [0, 0])[1]]
)
def test_the_default_level_is_that_of_the_library(label, codec, tmp_path):
    adapter = ready(label, codec)
    ours, plain = tmp_path / f"1{adapter.suffix}", tmp_path / f"2{adapter.suffix}"
    adapter.save(repetitive(), ours, codec)
    PLAIN[label][1](repetitive(), plain, codec)
    if codec == "gzip" and label != "Parquet":
        # After a header with a time and a file name.
        assert data_of(ours)[-500:] == data_of(plain)[-500:]
    else:
        assert data_of(ours) == data_of(plain)


@pytest.mark.parametrize("codec", ["deflate", "zstandard"])
def test_the_default_level_of_avro_is_that_of_fastavro(codec, tmp_path, monkeypatch):
    adapter, sizes = ready("Avro", codec), []
    write = fastavro.writer
    for without in ({}, {"codec_compression_level": None}):
        monkeypatch.setattr(
            fastavro,
            "writer",
            lambda *args, _without=without, **options: write(*args, **options | _without),
        )
        adapter.save(repetitive(), tmp_path / "t.avro", codec)
        sizes.append(adapter.size_bytes(tmp_path / "t.avro"))
    assert sizes[0] == sizes[1]


@pytest.mark.parametrize(("label", "codec"), LEVELLED)
def test_the_level_makes_a_difference(label, codec, tmp_path):
    adapter = ready(label, codec)
    levels = CODECS[label, codec].levels
    path, sizes = tmp_path / f"table{adapter.suffix}", []
    for level in (levels[0], levels[-1]):
        adapter.save(repetitive(), path, codec, level)
        sizes.append(len(data_of(path)))
        told = level_told_by(path, label, codec)
        assert told is None or told == level
    # bzip2's level is the size of its blocks, and HDF5's chunks fit into the smallest.
    assert sizes[0] != sizes[1] or codec == "bzip2"


def level_told_by(path: Path, label: str, codec: str) -> int | None:
    """Return the level that a file gives away, with the lowest and the highest told apart at least."""
    data = data_of(path)
    if codec == "bzip2" and label.startswith("HDF5"):
        assert {data[at + 3 : at + 4] for at in range(len(data)) if data[at : at + 3] == b"BZh"} == {
            str(complevel(path)).encode()
        }
    if label.startswith("HDF5"):
        return complevel(path)
    whole = codec.removeprefix("file:")
    if whole == "gzip" and label != "Parquet":
        return {4: 1, 2: 9}[data[8]]  # XFL, https://www.rfc-editor.org/rfc/rfc1952#page-7
    if whole == "xz":
        # Size of LZMA2's dictionary, https://tukaani.org/xz/xz-file-format.txt, 5.3.1: 256 KiB, 64 MiB.
        return {12: 0, 28: 9}[data[16]]
    if label == "Lance":
        from lance.file import LanceFileReader

        metadata = LanceFileReader(next(path.glob("data/*.lance"))).metadata()
        words = " ".join(" ".join(p.encoding for c in metadata.columns for p in c.pages).split())
        return int(words.partition("CompressionAlgorithmZstd, level: Some( ")[2].partition(",")[0])
    return None


def complevel(path: Path) -> int:
    with tables.open_file(path) as file:
        (level,) = {leaf.filters.complevel for leaf in file.walk_nodes("/", "Leaf")}
    return level


def test_orc_that_leaves_all_values_as_they_are_has_used_no_codec(tmp_path):
    adapter, path = ready("ORC"), tmp_path / "t.orc"
    for codec in adapter.codecs:
        adapter.save(random_integers(), path, codec.name)
        assert adapter.codec_used(path) is None
    words = repetitive()[["word"]]
    adapter.save(words, path, "snappy")
    assert adapter.codec_used(path) == "snappy"
    adapter.save(words, path, "lz4")
    assert adapter.codec_used(path) is None


def test_feather_that_leaves_all_values_as_they_are_has_used_no_codec(tmp_path):
    adapter, path = ready("Feather"), tmp_path / "t.feather"
    adapter.save(random_integers(), path)
    size = adapter.size_bytes(path)
    # pyarrow compresses what does not become smaller.
    adapter.save(random_integers(), path, "lz4")
    assert adapter.codec_used(path) == "lz4"
    assert adapter.size_bytes(path) > size
    # Other writers do not, and give a length of -1.
    data = path.read_bytes()
    length = struct.pack("<q", random_integers().n.nbytes)
    assert data.count(length) == 1
    path.write_bytes(data.replace(length, struct.pack("<q", -1)))
    assert adapter.codec_used(path) is None


def test_feather_finds_the_codec_in_dictionaries_too(tmp_path):
    adapter, path = ready("Feather"), tmp_path / "t.feather"
    words = repetitive()[["word"]].astype("category")
    adapter.save(words, path, "zstd")
    assert adapter.codec_used(path) == "zstd"
    adapter.save(words.head(0), path, "zstd")
    assert adapter.codec_used(path) is None


def test_hdf5_fixed_compresses_no_text(tmp_path):
    adapter, path = ready("HDF5.fixed"), tmp_path / "t.h5"
    adapter.save(repetitive()[["word"]], path, "zlib")
    assert adapter.codec_used(path) is None


def test_hdf5_that_leaves_all_chunks_as_they_are_has_used_no_codec(tmp_path):
    adapter, path = ready("HDF5.fixed"), tmp_path / "t.h5"
    # The last chunk is filled up with zeros, unless the rows are as many as fit.
    adapter.save(random_integers().head(3 * 8_192), path, "blosc:lz4")
    with tables.open_file(path) as file:
        assert file.root.table.block0_values.chunkshape[0] == 8_192
    assert adapter.codec_used(path) is None
