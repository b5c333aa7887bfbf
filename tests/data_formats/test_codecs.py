"""Codecs of single table formats: defaults, levels, and proofs."""

from __future__ import annotations

import struct
from pathlib import Path

import fastavro
import numpy as np
import pandas as pd
import pytest
import tables

import data_formats
from adapter_core import DataFormat, UnavailableError
from format_bench.conformance.tables import repetitive
from format_bench.instruments.page_cache import files_of
from tests.helpers import chosen

LABELS = chosen(data_formats, __name__)


CODECS = {(label, codec.name): codec for label in LABELS for codec in data_formats.find(label).codecs}


LEVELLED = [case for case, codec in CODECS.items() if codec.levels]


def random_integers() -> pd.DataFrame:
    return pd.DataFrame({"n": np.random.default_rng(0).integers(0, 2**63, 30_000)})


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


def test_pytables_is_not_left_to_replace_a_codec_that_it_lacks(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "which_lib_version", lambda _: None)
    with pytest.raises(
        UnavailableError, match="with lzo is unavailable: PyTables was built without lzo"
    ):
        data_formats.get("HDF5.table").save(repetitive(), tmp_path / "t.h5", "lzo")
    assert list(tmp_path.iterdir()) == []


# Plain calls of each library; the second one takes the name of a codec.


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
def test_the_default_codec_is_that_of_the_library(label, tmp_path):
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
    # From level 20 on, zstd takes 0.7 GB.
    for level in (levels[0], min(levels[-1], 19)):
        adapter.save(repetitive(), path, codec, level)
        sizes.append(len(data_of(path)))
        stored = level_in(path, label, codec)
        assert stored is None or stored == level
    # bzip2's level is the size of its blocks, and HDF5's chunks fit into the smallest.
    assert sizes[0] != sizes[1] or codec == "bzip2"


def level_in(path: Path, label: str, codec: str) -> int | None:
    """Return the level that is visible in a file, or None; at least lowest and highest differ."""
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
    # pyarrow also compresses buffers that do not become smaller.
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
