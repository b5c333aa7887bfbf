"""Tables of ROOT files through uproot: base class of TTree and RNTuple."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import IN_PLACE, Codec, Kind, PartialReads, RemoteTable, Trait, UnavailableError
from adapter_core.availability import import_failure, install_hint
from adapter_core.file_facts import FileFacts
from adapter_core.snippets import Snippet
from adapter_core.tables.array_format import DESCRIPTION, ArrayFormat
from adapter_core.tables.arrays import NO_VECTORS, OFFSETS, REFUSES

if TYPE_CHECKING:
    import awkward as ak
    import numpy as np

    from adapter_core import RemoteFile
    from adapter_core.tables.array_format import ArrayTable, Opened, OpenedRows


TABLE = "table"
"""Name of the TTree or RNTuple in the file; further ones have a number behind it."""

MAX_COLUMNS = 64
"""Columns of a TTree or RNTuple: uproot's time for one grows with the square of their number."""


class Root(ArrayFormat, PartialReads, RemoteTable):
    """A table of a ROOT file: a branch or field for each array, and a TObjString with the description.

    Text of one length is an array of bytes in each row, other text a list of bytes, whose offsets ROOT
    stores itself. Times are integers.
    """

    local_only = IN_PLACE
    suffix = ".root"
    overridden_default = "codec"
    suite = "engines"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    codecs: ClassVar = (
        Codec("zlib", range(1, 10), 1),
        Codec("lzma", range(1, 10), 1),
        Codec("lz4"),  # uproot ignores its level
        Codec("zstd", range(1, 10), 1),
    )
    remote_schemes: ClassVar = ("http", "root")
    remote_requires: ClassVar = ("fsspec", "aiohttp")
    # uproot writes one basket or cluster for all rows, which is read for each block.
    block_rows = 2**20
    refuses: ClassVar = {
        **REFUSES,
        **NO_VECTORS,
        Kind.HALF_FLOAT: "uproot writes none",
        Kind.COMPLEX: "ROOT has no type for them",
    }
    file_facts = FileFacts(threads="one")
    snippet = Snippet(
        imports="import awkward as ak\nimport pandas as pd\nimport uproot",
        write="""
            texts = df.select_dtypes("str").columns
            columns = {
                name: ak.Array(df[name].to_list() if name in texts else df[name].to_numpy())
                for name in df
            }
            types = {name: each.type.content for name, each in columns.items()}
            with uproot.recreate({path}, compression={compression}) as file:
                file.{make}("table", types).extend(columns)
        """,
        read="""
            with uproot.open({path}) as file:
                table = file["table"]
                arrays = {name: table[name].array(library="np") for name in table.keys()}
            df = pd.DataFrame(arrays)
        """,
        changes={"Int64": "float64"},
        lacks=("category", "datetime64[us]"),
        differs="FormatBench's own files also contain the dtypes of pandas, and text as bytes",
    )

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the compression, and the method that makes a table."""
        return {
            "compression": f"uproot.{codec.upper()}({level or 1})" if codec else "None",
            "make": self._maker,
        }

    def _write(self, path: Path, table: ArrayTable, codec: str | None, level: int | None) -> None:
        import uproot

        columns = list(_columns_of(table.arrays).items())
        compression = getattr(uproot, codec.upper())(level or 1) if codec else None
        with uproot.recreate(path, compression=compression) as file:
            file[DESCRIPTION] = table.description
            for i, first in enumerate(range(0, len(columns), MAX_COLUMNS)):
                name = f"{TABLE}_{i}" if i else TABLE
                self._write_table(file, name, dict(columns[first : first + MAX_COLUMNS]))

    _maker: ClassVar[str]
    """Method of an open file that makes a table, e.g. "mktree"."""

    @abstractmethod
    def _write_table(self, file: Any, name: str, columns: dict[str, ak.Array]) -> None:
        """Write arrays of one length as a table of an open file."""

    @contextmanager
    def _opened(self, path: Path) -> Iterator[Opened]:
        import uproot

        # uproot's default reads through an event loop in another thread, made for remote files.
        with uproot.open(path, handler=uproot.MultithreadedFileSource) as file:
            table_of = _tables(file)

            @lru_cache(maxsize=2)  # bytes and offsets of text are requested one after the other
            def read(column: str) -> ak.Array:
                return table_of[column][column].array(library="ak")

            def get(name: str) -> np.ndarray:
                column = name.removesuffix(OFFSETS)
                array = read(column)
                return _offsets(array) if column != name else _values(array)

            yield str(file[DESCRIPTION]), lambda names: {name: get(name) for name in names}

    @contextmanager
    def _opened_rows(self, path: Path) -> Iterator[OpenedRows]:
        import awkward as ak
        import uproot

        with uproot.open(path, handler=uproot.MultithreadedFileSource) as file:
            table_of = _tables(file)

            def read(names: list[str], rows: slice) -> dict[str, np.ndarray]:
                arrays: dict[str, np.ndarray] = {}
                for name in names:
                    if name.endswith(OFFSETS):
                        continue
                    branch = table_of[name][name]
                    part = branch.array(entry_start=rows.start, entry_stop=rows.stop, library="ak")
                    array = ak.to_packed(part)
                    arrays[name] = _values(array)
                    if name + OFFSETS in names:
                        arrays[name + OFFSETS] = _offsets(array)
                return arrays

            yield str(file[DESCRIPTION]), read

    @contextmanager
    def _opened_remote(self, file: RemoteFile) -> Iterator[Opened]:
        import uproot

        if file.scheme == "root":
            reason = import_failure("fsspec_xrootd")
            if reason:
                raise UnavailableError(f"{self.label} by XRootD", reason, install_hint("links"))
        options = self._http_options() if file.scheme == "http" else {}
        with uproot.open(file.url, **options) as opened:
            table_of = _tables(opened)

            def get(names: list[str]) -> dict[str, np.ndarray]:
                columns = {name.removesuffix(OFFSETS) for name in names}
                found: dict[str, ak.Array] = {}
                # One call asks for all columns at once, rather than one round trip after the other.
                for table in {id(table_of[each]): table_of[each] for each in columns}.values():
                    wanted = [each for each in table.keys() if each in columns]  # noqa: SIM118
                    arrays = table.arrays(filter_name=wanted, library="ak")
                    found |= {each: arrays[each] for each in wanted}
                return {
                    name: _values(found[name])
                    if name in found
                    else _offsets(found[name[: -len(OFFSETS)]])
                    for name in names
                }

            yield str(opened[DESCRIPTION]), get

    def _http_options(self) -> dict[str, Any]:
        """Return the arguments of `uproot.open` for a file on a server of HTTP."""
        return {}

    def _codec_used(self, path: Path) -> str | None:
        import uproot

        with uproot.open(path) as file:
            compression = file.file.compression
        return None if compression is None else compression.name.lower()


def _tables(file: Any) -> dict[str, Any]:
    """Return the TTree or RNTuple of each column."""
    tables = [file[name] for name in file.keys(cycle=False) if name != DESCRIPTION]
    return {column: table for table in tables for column in table.keys()}  # noqa: SIM118


def _columns_of(arrays: Mapping[str, np.ndarray]) -> dict[str, ak.Array]:
    """Return arrays with one value, or one list, a row; bytes together with their offsets."""
    import awkward as ak
    import numpy as np

    columns = {}
    for name, array in arrays.items():
        offsets = arrays.get(name + OFFSETS)
        if offsets is not None:
            content = ak.contents.NumpyArray(array)
            columns[name] = ak.Array(ak.contents.ListOffsetArray(ak.index.Index(offsets), content))
        elif not name.endswith(OFFSETS):
            values = array.view(np.int64) if array.dtype.kind in "mM" else array
            columns[name] = ak.from_numpy(values, regulararray=True)
    return columns


def _values(array: ak.Array) -> np.ndarray:
    """Return the values of a column; lists end to end."""
    is_jagged = array.layout.is_list and not array.layout.is_regular
    return array.layout.content.data if is_jagged else array.to_numpy()


def _offsets(array: ak.Array) -> np.ndarray:
    return array.layout.offsets.data
