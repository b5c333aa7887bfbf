"""Formats with flat columns and with lists of records, each through its library's own calls."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.availability import import_failure
from adapter_core.errors import UnavailableError
from data_generator.datasets.kaons import KAON_FIELDS
from format_bench.studies.nested.events import (
    COLUMNS,
    FIELDS,
    Answer,
    Events,
    KaonLists,
    Question,
    answer_of_columns,
    answer_of_lists,
)

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

# Packages of modules with another name.
_PACKAGES = {"ROOT": "root", "lance": "pylance", "vortex": "vortex-data"}

ZSTD_LEVEL = 5
"""Level of zstd where the library has no default: ROOT's."""

# Larger than h5py's own choice of some KiB, which is made for arrays of which parts are read.
CHUNK_ROWS = 65_536


class Layout(ABC):
    """Files of one format, with flat columns or with lists of kaons."""

    format: ClassVar[str]
    nested: ClassVar[str] = "list of records"
    """Name of the layout of deep events."""
    modules: ClassVar[tuple[str, ...]]
    """Modules that it needs."""
    codecs: ClassVar[tuple[str, ...]] = ("none", "zstd")

    def __init__(self, *, deep: bool) -> None:
        self.deep = deep

    @property
    def name(self) -> str:
        """Name of the layout of the events."""
        return self.nested if self.deep else "flat"

    def require(self) -> None:
        """Import the layout's packages.

        Raises
        ------
        UnavailableError
            If a module is missing or fails.
        """
        for module in self.modules:
            # ROOT warns that its wheel is an alpha.
            with warnings.catch_warnings(action="ignore"):
                reason = import_failure(module)
            if reason:
                package = _PACKAGES.get(module, module.partition(".")[0])
                raise UnavailableError(self.format, reason, f"pip install {package}")

    @abstractmethod
    def prepare(self, events: Events, codec: str) -> Any:
        """Return the events as the library takes them."""

    @abstractmethod
    def write(self, prepared: Any, path: Path, codec: str) -> None:
        """Write the prepared data to a new file or folder."""

    @abstractmethod
    def answer(self, path: Path, question: Question) -> Answer:
        """Read the columns of a question, and answer it."""


class ArrowLayout(Layout):
    """Arrow tables in a format."""

    nested = "list of structs"

    def prepare(self, events: Events, codec: str) -> pa.Table:
        """Return a table, nested or not."""
        del codec
        import pyarrow as pa

        if not self.deep:
            return pa.table(dict(events.columns))
        offsets = pa.array(events.kaons.offsets.astype("int32"))
        fields = [pa.array(events.kaons.fields[name]) for name in KAON_FIELDS]
        kaons = pa.ListArray.from_arrays(offsets, pa.StructArray.from_arrays(fields, list(KAON_FIELDS)))
        return pa.table({**events.candidates, "kaons": kaons})

    def answer(self, path: Path, question: Question) -> Answer:
        """Answer batch by batch."""
        if not self.deep:
            batches = self.read(path, list(COLUMNS[question]))
            return sum((answer_of_columns(question, _columns(each)) for each in batches), Answer())
        batches = self.read(path, self.paths(question))
        return sum((answer_of_lists(question, _lists(each, question)) for each in batches), Answer())

    def paths(self, question: Question) -> list[str]:
        """Return the nested columns for a question; by default all, as one column."""
        del question
        return ["kaons"]

    @abstractmethod
    def read(self, path: Path, columns: list[str]) -> Iterator[pa.RecordBatch]:
        """Yield batches of columns."""


def _columns(batch: pa.RecordBatch) -> dict[str, np.ndarray]:
    return {name: batch[name].to_numpy() for name in batch.schema.names}


def _lists(batch: pa.RecordBatch, question: Question) -> KaonLists:
    import numpy as np

    lists = batch["kaons"]
    offsets = np.asarray(lists.offsets)
    kaons = lists.flatten()
    fields = {name: kaons.field(name).to_numpy() for name in FIELDS[question]}
    # The batch may be a part of a larger one: `flatten` starts at its first kaon, `offsets` do not.
    return KaonLists(offsets - offsets[0], fields)


class Parquet(ArrowLayout):
    """Parquet through pyarrow, which reads fields of a list on their own."""

    format = "Parquet"
    modules = ("pyarrow.parquet",)

    def write(self, prepared: pa.Table, path: Path, codec: str) -> None:  # noqa: D102
        import pyarrow.parquet as pq

        # Dictionaries make these values larger: 128.5 instead of 123.1 bytes an event with zstd.
        pq.write_table(prepared, path, compression=codec, use_dictionary=False)

    def paths(self, question: Question) -> list[str]:  # noqa: D102
        return [f"kaons.list.element.{name}" for name in FIELDS[question]]

    def read(self, path: Path, columns: list[str]) -> Iterator[pa.RecordBatch]:  # noqa: D102
        import pyarrow.parquet as pq

        # `read_table` goes through data sets, which do not find fields of lists by these names.
        with pq.ParquetFile(path) as file:
            yield from file.read(columns=columns, use_threads=False).to_batches()


class Ipc(ArrowLayout):
    """Arrow's IPC file, also named Feather, through pyarrow: a list is read whole."""

    format = "Feather"
    modules = ("pyarrow.feather",)

    def write(self, prepared: pa.Table, path: Path, codec: str) -> None:  # noqa: D102
        from pyarrow import feather

        compression = "uncompressed" if codec == "none" else codec
        feather.write_feather(prepared, path, compression=compression)

    def read(self, path: Path, columns: list[str]) -> Iterator[pa.RecordBatch]:  # noqa: D102
        from pyarrow import feather

        table = feather.read_table(path, columns=columns, use_threads=False, memory_map=False)
        yield from table.to_batches()


class Orc(ArrowLayout):
    """ORC through pyarrow, which reads fields of a list on their own."""

    format = "ORC"
    modules = ("pyarrow.orc",)

    def write(self, prepared: pa.Table, path: Path, codec: str) -> None:  # noqa: D102
        from pyarrow import orc

        orc.write_table(prepared, path, compression="uncompressed" if codec == "none" else codec)

    def paths(self, question: Question) -> list[str]:  # noqa: D102
        return [f"kaons.{name}" for name in FIELDS[question]]

    def read(self, path: Path, columns: list[str]) -> Iterator[pa.RecordBatch]:  # noqa: D102
        from pyarrow import orc

        yield from orc.ORCFile(path).read(columns=columns).to_batches()


class Lance(ArrowLayout):
    """Lance through pylance: a list is read whole."""

    format = "Lance"
    modules = ("lance",)

    def prepare(self, events: Events, codec: str) -> pa.Table:  # noqa: D102
        table = super().prepare(events, codec)
        if codec == "none":
            return table
        import pyarrow as pa

        # https://lance.org/format/file/encoding/#configuring-compression
        return table.cast(pa.schema([_with_codec(field, codec) for field in table.schema]))

    def write(self, prepared: pa.Table, path: Path, codec: str) -> None:  # noqa: D102
        del codec
        import lance

        lance.write_dataset(prepared, path)

    def read(self, path: Path, columns: list[str]) -> Iterator[pa.RecordBatch]:  # noqa: D102
        import lance

        yield from lance.dataset(path).to_batches(columns=columns)


def _with_codec(field: pa.Field, codec: str) -> pa.Field:
    """Return a field with the codec in the metadata of each field inside that contains values."""
    import pyarrow as pa

    if pa.types.is_list(field.type):
        return field.with_type(pa.list_(_with_codec(field.type.value_field, codec)))
    if pa.types.is_struct(field.type):
        return field.with_type(pa.struct([_with_codec(each, codec) for each in field.type]))
    return field.with_metadata({"lance-encoding:compression": codec})


class Vortex(ArrowLayout):
    """Vortex with its own encodings, which are not codecs: a list is read whole."""

    format = "Vortex"
    modules = ("vortex",)
    codecs = ("none",)

    def write(self, prepared: pa.Table, path: Path, codec: str) -> None:  # noqa: D102
        del codec
        import vortex

        vortex.io.write(prepared, str(path))

    def read(self, path: Path, columns: list[str]) -> Iterator[pa.RecordBatch]:  # noqa: D102
        import vortex

        yield from vortex.open(str(path)).to_arrow(columns)


class Hdf5(Layout):
    """HDF5 through h5py: a dataset for each column, or offsets and a dataset for each field."""

    format = "HDF5"
    nested = "offsets + columns"
    modules = ("h5py", "hdf5plugin")

    def prepare(self, events: Events, codec: str) -> Mapping[str, np.ndarray]:  # noqa: D102
        del codec
        if not self.deep:
            return events.columns
        kaons = {f"kaons/{name}": values for name, values in events.kaons.fields.items()}
        return {**events.candidates, "kaons/offsets": events.kaons.offsets, **kaons}

    def write(self, prepared: Mapping[str, np.ndarray], path: Path, codec: str) -> None:  # noqa: D102
        import h5py
        import hdf5plugin

        with h5py.File(path, "w") as file:
            for name, values in prepared.items():
                options: dict[str, Any] = {}
                if codec == "zstd":
                    options = dict(hdf5plugin.Zstd()) | {"chunks": (min(len(values), CHUNK_ROWS),)}
                file.create_dataset(name, data=values, **options)

    def answer(self, path: Path, question: Question) -> Answer:  # noqa: D102
        import h5py
        import hdf5plugin  # noqa: F401 (registers zstd)

        with h5py.File(path, "r") as file:
            if not self.deep:
                return answer_of_columns(question, {name: file[name][()] for name in COLUMNS[question]})
            fields = {name: file[f"kaons/{name}"][()] for name in FIELDS[question]}
            return answer_of_lists(question, KaonLists(file["kaons/offsets"][()], fields))


class UprootLayout(Layout):
    """ROOT files through uproot and awkward."""

    modules = ("uproot", "awkward")

    def prepare(self, events: Events, codec: str) -> dict[str, Any]:
        """Return arrays by name; lists as awkward's."""
        del codec
        if not self.deep:
            return dict(events.columns)
        import awkward as ak
        import numpy as np

        kaons = ak.contents.RecordArray(
            [ak.contents.NumpyArray(values) for values in events.kaons.fields.values()],
            list(events.kaons.fields),
        )
        offsets = ak.index.Index64(events.kaons.offsets.astype(np.int64))
        return {**events.candidates, "kaons": ak.Array(ak.contents.ListOffsetArray(offsets, kaons))}

    def write(self, prepared: dict[str, Any], path: Path, codec: str) -> None:
        """Write one table, in as many baskets or clusters as the library makes of one call."""
        import awkward as ak
        import uproot

        types = {name: ak.Array(values).type.content for name, values in prepared.items()}
        compression = uproot.ZSTD(ZSTD_LEVEL) if codec == "zstd" else None
        with uproot.recreate(path, compression=compression) as file:
            self._create(file, types).extend(prepared)

    def answer(self, path: Path, question: Question) -> Answer:
        """Read whole branches or fields, and answer from them."""
        import uproot

        with uproot.open(path) as file:
            table = file["events"]
            if not self.deep:
                arrays = table.arrays(list(COLUMNS[question]), library="np")
                return answer_of_columns(question, dict(arrays))
            return answer_of_lists(question, self._lists(table, FIELDS[question]))

    @abstractmethod
    def _create(self, file: Any, types: dict[str, Any]) -> Any:
        """Create the table ``events`` in an open file."""

    @abstractmethod
    def _lists(self, table: Any, fields: tuple[str, ...]) -> KaonLists:
        """Read fields of the kaons."""


class UprootTTree(UprootLayout):
    """A TTree with a branch for each column, or one of any length for each field."""

    format = "TTree[uproot]"
    nested = "jagged branches"

    def _create(self, file: Any, types: dict[str, Any]) -> Any:
        return file.mktree("events", types)

    def _lists(self, table: Any, fields: tuple[str, ...]) -> KaonLists:
        arrays = table.arrays([f"kaons_{name}" for name in fields], how=dict)
        lists = {name: arrays[f"kaons_{name}"].layout for name in fields}
        # The same for each field: TTree has one counter for all.
        offsets = next(iter(lists.values())).offsets.data
        return KaonLists(offsets, {name: each.content.data for name, each in lists.items()})


class UprootRNTuple(UprootLayout):
    """An RNTuple with a field for each column, or a collection of records."""

    format = "RNTuple[uproot]"

    def _create(self, file: Any, types: dict[str, Any]) -> Any:
        return file.mkrntuple("events", types)

    def _lists(self, table: Any, fields: tuple[str, ...]) -> KaonLists:
        lists = table.arrays([f"kaons.{name}" for name in fields]).layout["kaons"]
        return KaonLists(lists.offsets.data, {name: lists.content[name].data for name in fields})
