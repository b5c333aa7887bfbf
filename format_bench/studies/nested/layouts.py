"""Formats with flat columns and with lists of records, each through its library's own calls."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import data_formats
from adapter_core.availability import import_failure
from adapter_core.errors import UnavailableError
from data_generator.datasets.kaons import deep_rows
from format_bench.studies.nested.events import (
    COLUMNS,
    FIELDS,
    SEED,
    Answer,
    Events,
    KaonLists,
    Question,
    answer_of_columns,
    answer_of_lists,
)

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa

# Packages of modules with another name.
_PACKAGES = {"ROOT": "root"}

# Level of zstd where the library has no default: ROOT's.
ZSTD_LEVEL = 5

# Larger than h5py's own choice of some KiB, which is made for arrays of which parts are read.
CHUNK_ROWS = 65_536


class Layout(ABC):
    """Files of one format, with flat columns or with lists of kaons."""

    format: str
    nested: ClassVar[str] = "list of records"
    """Name of the layout of deep events."""
    modules: ClassVar[tuple[str, ...]] = ()
    """Modules that it needs."""
    codecs: tuple[str, ...] = ("none", "zstd")

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


class TableLayout(Layout):
    """A table of a format as its usual adapter saves it, with a column of lists of structs if deep."""

    nested = "list of structs"

    def __init__(self, label: str, *, deep: bool) -> None:
        super().__init__(deep=deep)
        self.format = label
        adapter = data_formats.find(label)
        has_zstd = "zstd" in [each.name for each in getattr(adapter, "codecs", ())]
        self.codecs = ("none", "zstd") if has_zstd else ("none",)

    def require(self) -> None:
        """Look the adapter up, which takes longer than a small read.

        Its check would refuse lists where pandas could not read them back, which is not asked here.
        """
        self.adapter: Any = data_formats.get(self.format).without_check()
        if self.format == "Parquet":
            # Dictionaries make these values larger: 128.5 instead of 123.1 bytes an event with zstd.
            self.adapter.options = {"use_dictionary": False}

    def prepare(self, events: Events, codec: str) -> pd.DataFrame:  # noqa: D102
        import pandas as pd
        import pyarrow as pa

        del codec
        columns = dict(deep_rows(0, events.rows, SEED)) if self.deep else events.columns
        # As Arrow has them: the search for nulls in NumPy's floats would make flat columns alone dearer.
        arrays = {name: pa.array(values, from_pandas=False) for name, values in columns.items()}
        return pd.DataFrame({name: pd.arrays.ArrowExtensionArray(each) for name, each in arrays.items()})

    def write(self, prepared: pd.DataFrame, path: Path, codec: str) -> None:  # noqa: D102
        self.adapter.save(prepared, path, None if codec == "none" else codec)

    def answer(self, path: Path, question: Question) -> Answer:  # noqa: D102
        if not self.deep:
            return answer_of_columns(question, self.adapter.read_arrays(path, COLUMNS[question]))
        chunks = _READERS[self.format](path, FIELDS[question])["kaons"].chunks
        return sum((answer_of_lists(question, _lists(each, question)) for each in chunks), Answer())


def _parquet(path: Path, fields: tuple[str, ...]) -> pa.Table:
    import pyarrow.parquet as pq

    # `read_table` goes through data sets, which do not find fields of lists by these names.
    with pq.ParquetFile(path) as file:
        return file.read(columns=[f"kaons.list.element.{name}" for name in fields], use_threads=False)


def _feather(path: Path, _: tuple[str, ...]) -> pa.Table:
    from pyarrow import feather

    return feather.read_table(path, columns=["kaons"], use_threads=False, memory_map=False)


def _orc(path: Path, fields: tuple[str, ...]) -> pa.Table:
    from pyarrow import orc

    return orc.ORCFile(path).read(columns=[f"kaons.{name}" for name in fields])


def _lance(path: Path, _: tuple[str, ...]) -> pa.Table:
    import lance

    return lance.dataset(path).to_table(columns=["kaons"])


def _vortex(path: Path, _: tuple[str, ...]) -> pa.Table:
    import vortex

    return vortex.open(str(path)).to_arrow(["kaons"]).read_all()


# Readers of the lists, or of some of their fields where the library can.
_READERS = {"Parquet": _parquet, "Feather": _feather, "ORC": _orc, "Lance": _lance, "Vortex": _vortex}

TABLES = tuple(_READERS)
"""Table formats that keep lists of structs."""


def _lists(lists: pa.ListArray, question: Question) -> KaonLists:
    import numpy as np

    offsets = np.asarray(lists.offsets)
    kaons = lists.flatten()
    fields = {name: kaons.field(name).to_numpy() for name in FIELDS[question]}
    # The chunk may be a part of a larger one: `flatten` starts at its first kaon, `offsets` do not.
    return KaonLists(offsets - offsets[0], fields)


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
