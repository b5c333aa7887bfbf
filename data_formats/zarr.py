"""Zarr through zarr-python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import Codec, PartialReads, RemoteTable, Snippet, Trait
from adapter_core.arrays.zarr import strict_folder, strict_store
from adapter_core.codec_choice import Recommended
from adapter_core.file_facts import FileFacts
from adapter_core.remote import ATTEMPTS, OBJECT_STORES
from adapter_core.tables.array_format import DESCRIPTION, ArrayFormat, by_elements

if TYPE_CHECKING:
    import numpy as np

    from adapter_core import RemoteFile
    from adapter_core.tables.array_format import ArrayTable, Opened, OpenedRows


# Largest size of a chunk. Each chunk is a file. Zarr's guide advises chunks of 1 MB or more:
# https://zarr.readthedocs.io/en/stable/user-guide/performance/
CHUNK_BYTES = 2**24


class Adapter(ArrayFormat, PartialReads, RemoteTable):
    """A Zarr group of format 3 (a directory) of arrays, through zarr-python.

    Text is bytes, since the format lacks a stable type for text: zarr-python writes nulls in its own
    type as the word None, and makes a Python object of each value. Times are integers for the same
    reason. All chunks are written, also if all values are zero, and a missing chunk is an error, in
    whose place Zarr itself would read zeros. It does not notice flipped bits.
    """

    label = "Zarr"
    suffix = ".zarr"
    requires = ("pandas", "pyarrow", "zarr>=3.1")
    suite = "engines"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE})
    codecs: ClassVar = (Codec("gzip", range(1, 10), 5), Codec("zstd", range(1, 23), 3))
    default_codec = "zstd"
    block_rows = 2**20
    recommended = Recommended(
        "https://zarr.readthedocs.io/en/stable/user-guide/performance/",
        default_codec,
        words="chunks of at least 1 MB; compression as by default",
        seen="2026-11-25",
    )
    remote_schemes: ClassVar = ("http",)
    save_schemes: ClassVar = OBJECT_STORES
    remote_requires: ClassVar = ("obstore",)
    checksums = "CRC-32C of each chunk: the codec crc32c"
    file_facts = FileFacts(
        version="3",
        threads="all cores",
        differs="chunks of up to 16 MiB, as each is a file; chunks of zeros are written, too",
    )
    snippet = Snippet(
        imports="import pandas as pd\nimport zarr\nfrom zarr.codecs import GzipCodec, ZstdCodec",
        write="""
            group = zarr.create_group(
                {path}, zarr_format=3, attributes={"columns": list(df.columns)}
            )
            for name, column in df.items():
                group.create_array(
                    name,
                    data=column.to_numpy(),
                    compressors={compressors},
                    config={"write_empty_chunks": True},
                )
        """,
        read="""
            group = zarr.open_group({path}, mode="r", zarr_format=3)
            df = pd.DataFrame({name: group[name][...] for name in group.attrs["columns"]})
        """,
        changes={"Int64": "float64"},
        lacks=("category", "str"),
        differs="FormatBench's own files also contain the dtypes of pandas, and text as bytes",
    )

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the compressor."""
        names = {"gzip": "GzipCodec", "zstd": "ZstdCodec"}
        return {"compressors": f"{names[codec]}(level={level})" if codec else "None"}

    def _write(self, path: Path, table: ArrayTable, codec: str | None, level: int | None) -> None:
        self._write_to(path, table, codec, level)

    def _write_remote(
        self, file: RemoteFile, table: ArrayTable, codec: str | None, level: int | None
    ) -> None:
        from zarr.storage import ObjectStore

        self._write_to(ObjectStore(file.obstore_store()), table, codec, level)

    def _write_to(self, store: Any, table: ArrayTable, codec: str | None, level: int | None) -> None:
        """Write a table to a path, or to a store of zarr-python."""
        import zarr
        from zarr.codecs import Crc32cCodec

        compressors: list[Any] = [_compressors()[codec](level=level)] if codec else []
        if self.uses_checksums:
            compressors.append(Crc32cCodec())
        group = zarr.create_group(store, zarr_format=3, attributes={DESCRIPTION: table.description})
        for name, array in table.arrays.items():
            group.create_array(
                name,
                data=array.view("int64") if array.dtype.kind in "mM" else array,
                chunks=_chunks(array),
                compressors=compressors or None,
                config={"write_empty_chunks": True},
            )

    @contextmanager
    def _opened(self, path: Path) -> Iterator[Opened]:
        yield _described(_group(path))

    @contextmanager
    def _opened_remote(self, file: RemoteFile) -> Iterator[Opened]:
        import zarr
        from obstore.store import HTTPStore
        from zarr.storage import ObjectStore

        if file.scheme == "http":
            http = HTTPStore(
                file.url,
                client_options={"allow_http": True},
                retry_config={"max_retries": ATTEMPTS - 1},
            )
            store: Any = ObjectStore(http, read_only=True)
        else:
            store = strict_store(ObjectStore)(file.obstore_store(), read_only=True)
        yield _described(zarr.open_group(store, mode="r", zarr_format=3))

    @contextmanager
    def _opened_rows(self, path: Path) -> Iterator[OpenedRows]:
        group = _group(path)
        array = cache(group.__getitem__)
        yield group.attrs[DESCRIPTION], by_elements(lambda name, part: array(name)[part])

    def _codec_used(self, path: Path) -> str | None:
        for _, array in _group(path).arrays():
            for compressor in array.compressors:
                name: str = compressor.to_dict()["name"]
                if name != "crc32c":
                    return name
        return None


def _group(path: Path) -> Any:
    import zarr

    return zarr.open_group(strict_folder(path), mode="r", zarr_format=3)


def _described(group: Any) -> Opened:
    return group.attrs[DESCRIPTION], lambda names: {name: group[name][...] for name in names}


def _compressors() -> dict[str, Any]:
    from zarr.codecs import GzipCodec, ZstdCodec

    return {"gzip": GzipCodec, "zstd": ZstdCodec}


def _chunks(array: np.ndarray) -> tuple[int, ...]:
    # The last chunk is filled up to the size of the others, so they should divide the array evenly.
    parts = -(-array.nbytes // CHUNK_BYTES)
    return max(1, -(-len(array) // max(1, parts))), *array.shape[1:]
