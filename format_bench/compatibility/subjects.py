"""Kinds of data in files that others read: tables, arrays and records, with the edge cases of each."""

from __future__ import annotations

import functools
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import array_stores
import data_formats
import record_stores
from adapter_core.errors import UnavailableError
from data_generator.synthetic import edge_case_tables
from data_generator.synthetic.edge_case_arrays import edge_case_arrays
from data_generator.synthetic.edge_case_records import EDGE_CASE_RECORDS
from format_bench.results.suites import SUITES
from format_bench.verification import sameness
from format_bench.verification.canonical import CanonicalTable
from format_bench.verification.canonical_arrays import (
    ATTRIBUTE,
    COORDINATE,
    OF,
    VALUES,
    compare_arrays,
    of_array,
)
from format_bench.verification.canonical_records import of_records
from format_bench.verification.sameness import Sameness
from record_stores import JvmStore

if TYPE_CHECKING:
    from types import ModuleType

    import pandas as pd

    from adapter_core import ArraySource, ArrayStore, RecordSet


@dataclass(frozen=True)
class Cut:
    """Part of an edge case: some columns of some consecutive rows."""

    columns: tuple[int, ...]
    first: int
    end: int

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.end - self.first


class Subject(ABC):
    """A kind of data, whose edge cases adapters of a family save and read."""

    adapters: ClassVar[ModuleType]
    """The package of the family's adapters."""
    usual: ClassVar[Sequence[str]]
    """Edge cases of a usual run; all if empty."""
    formats: ClassVar[Sequence[str]]
    """Labels of the writers of a usual run."""
    alike: ClassVar[dict[str, str]] = {}
    """Suffixes of files that are files of another suffix's format, too."""

    def labels(self) -> list[str]:
        """Return the labels of the adapters."""
        found: list[str] = self.adapters.names()
        return found

    def suffix(self, label: str) -> str:
        """Return the suffix of an adapter's files."""
        found: str = self.adapters.find(label).suffix
        return found

    def form(self, suffix: str) -> str:
        """Return the suffix that stands for all files of the same format."""
        return self.alike.get(suffix, suffix)

    @abstractmethod
    def cases(self) -> list[str]:
        """Return the names of the edge cases."""

    @abstractmethod
    def rows(self, case: str) -> int:
        """Return the number of rows of an edge case, as records of results have it."""

    @abstractmethod
    def data(self, case: str, cut: Cut | None) -> Any:
        """Return an edge case, or a part of it, as adapters save it.

        Raises
        ------
        UnavailableError
            If these libraries cannot make it.
        """

    @abstractmethod
    def canonical(self, data: Any, adapter: Any = None) -> CanonicalTable:
        """Return the canonical form of data; with an adapter, of the content of its files."""

    @abstractmethod
    def read(self, adapter: Any, path: Path, case: str, cut: Cut | None) -> CanonicalTable:
        """Read the file of an edge case by an adapter; return the canonical form."""

    def parts(self, saved: CanonicalTable) -> tuple[list[str], int]:
        """Return the names of the columns that a cut may leave out, and the number of rows."""
        return [name for name, _ in saved.columns], len(saved.rows)

    def compare(self, saved: CanonicalTable, read: CanonicalTable) -> Sameness:
        """Compare the output of a reader with the saved data."""
        return sameness.compare(saved, read)


class _Tables(Subject):
    """Tables of pandas."""

    adapters: ClassVar = data_formats
    usual: ClassVar = (
        *(
            "bool column",
            "int8 column",
            "uint64 column",
            "float16 column",
            "float32 with 9 digits",
            "NaN",
        ),
        *("smallest and largest integers", "infinity", "minus zero", "text with nulls"),
        *("empty text and nulls", "text like integers", "text with line breaks", "text in many scripts"),
        *("bytes", "dates", "times", "decimals", "datetimes in nanoseconds", "datetimes of all years"),
        *("datetimes with a zone", "timedeltas", "categories", "nullable integers", "lists of integers"),
        *("structs", "maps"),
    )
    formats: ClassVar = SUITES["compatibility"].formats

    def cases(self) -> list[str]:
        return list(edge_case_tables.edge_case_tables())

    def rows(self, case: str) -> int:
        del case
        return edge_case_tables.ROWS

    def data(self, case: str, cut: Cut | None) -> pd.DataFrame:
        tables, failures = _tables()
        if case not in tables:
            reason = f"its libraries make no table {case!r}: {'; '.join(failures)}"
            raise UnavailableError("the edge case", reason, "install newer libraries into the set")
        if cut is None:
            return tables[case]
        part = tables[case].iloc[cut.first : cut.end, list(cut.columns)]
        return part.reset_index(drop=True)

    def canonical(self, data: pd.DataFrame, adapter: Any = None) -> CanonicalTable:
        del adapter
        return CanonicalTable.of_frame(data)

    def read(self, adapter: Any, path: Path, case: str, cut: Cut | None) -> CanonicalTable:
        del case, cut
        return CanonicalTable.of_frame(adapter.read(path))


@functools.cache
def _tables() -> tuple[dict[str, pd.DataFrame], list[str]]:
    """Return the tables that these libraries can make, and why they cannot make others."""
    tables, failures = dict[str, "pd.DataFrame"](), list[str]()
    for group in edge_case_tables.GROUPS:
        try:
            tables |= group()
        except Exception as error:
            failures.append(f"{type(error).__name__}: {error}")
    return tables, failures


class _Arrays(Subject):
    """N-d arrays, of which a file holds the properties that its writer keeps."""

    adapters: ClassVar = array_stores
    usual: ClassVar = ()
    formats: ClassVar = (
        *("HDF5", "NetCDF4", "NetCDF4[h5netcdf]", "NPY.memmap", "Zarr.dir", "Zarr.sharded"),
        *("Zarr.sharded[tensorstore]", "Zarr.v2", "Zarr[tensorstore]", "Zarr[zarrs]"),
    )
    alike: ClassVar = {".nc": ".h5"}

    def cases(self) -> list[str]:
        return list(edge_case_arrays())

    def rows(self, case: str) -> int:
        return [*edge_case_arrays()[case].shape, 1][0]

    def data(self, case: str, cut: Cut | None) -> ArraySource:
        source = edge_case_arrays()[case]
        if cut is None:
            return source
        names = self.parts(self.canonical(source))[0]
        kept = {names[position] for position in cut.columns}
        return _part(source, slice(cut.first, cut.end), kept)

    def canonical(self, data: ArraySource, adapter: ArrayStore | None = None) -> CanonicalTable:
        from adapter_core import Description, Property

        values = data.read(tuple(slice(0, edge) for edge in data.shape))
        return of_array(Description.of(data), values, adapter.keeps if adapter else frozenset(Property))

    def read(self, adapter: ArrayStore, path: Path, case: str, cut: Cut | None) -> CanonicalTable:
        del case, cut
        with adapter.open(path) as reader:
            return of_array(reader.description, reader.read())

    def parts(self, saved: CanonicalTable) -> tuple[list[str], int]:
        """Return the values, attributes and coordinates, and the length of the first axis."""
        facts = {name: value for (name, _), value in zip(saved.columns, saved.rows[0], strict=True)}
        optional = [name for name in facts if name.startswith((ATTRIBUTE, COORDINATE))]
        return [VALUES, *optional], int([*facts["shape"], "1"][0])

    def compare(self, saved: CanonicalTable, read: CanonicalTable) -> Sameness:
        return compare_arrays(saved, read)


def _part(source: ArraySource, rows: slice, kept: set[str]) -> ArraySource:
    """Return a part of an array along its first axis, with some attributes and coordinates."""
    first = source.dims[0] if source.dims else ""
    whole = tuple(slice(0, edge) for edge in source.shape)
    values = source.read((rows, *whole[1:]) if whole else ())
    coordinates = {
        name: line[rows] if name == first else line
        for name, line in source.coordinates.items()
        if f"{COORDINATE}{name}" in kept
    }
    attributes = {
        dim: {name: value for name, value in each.items() if f"{ATTRIBUTE}{name}{OF}{dim}" in kept}
        for dim, each in source.coordinate_attributes.items()
        if dim in coordinates
    }
    own = {name: value for name, value in source.attributes.items() if f"{ATTRIBUTE}{name}" in kept}
    return replace(
        type(source).of(values, source.chunks),
        name=source.name,
        dims=source.dims,
        attributes=own,
        coordinates=coordinates,
        coordinate_attributes=attributes,
    )


class _Records(Subject):
    """Records of a type that the reader knows, too."""

    adapters: ClassVar = record_stores
    # Symbols of enums are numbers to a program that knows the type, and text to others; unions have no
    # type in common.
    usual: ClassVar = tuple(each for each in EDGE_CASE_RECORDS if not re.search("enum|union", each))
    formats: ClassVar = (
        *(
            "Avro",
            "CBOR",
            "JSON",
            "JSON[msgspec]",
            "JSON[orjson]",
            "MessagePack",
            "MessagePack[msgspec]",
        ),
        *("Parquet", "Protobuf", "Protobuf[delimited]"),
    )

    def labels(self) -> list[str]:
        """Return the labels of stores in Python: stores of the JVM have data sets of their own alone."""
        return [each for each in super().labels() if not isinstance(record_stores.find(each), JvmStore)]

    def cases(self) -> list[str]:
        return list(EDGE_CASE_RECORDS)

    def rows(self, case: str) -> int:
        return len(EDGE_CASE_RECORDS[case])

    def data(self, case: str, cut: Cut | None) -> RecordSet:
        whole = EDGE_CASE_RECORDS[case]
        if cut is None:
            return whole
        of = replace(
            whole.of, fields=tuple(whole.of.fields[each] for each in cut.columns), object_class=None
        )
        objects = whole.objects[cut.first : cut.end]
        parts = [of.object_class(*(getattr(each, name) for name in of.names)) for each in objects]
        return type(whole).of_objects(of, parts)

    def canonical(self, data: RecordSet, adapter: Any = None) -> CanonicalTable:
        del adapter
        return of_records(data.of, map(data.of.plain, data.objects))

    def read(self, adapter: Any, path: Path, case: str, cut: Cut | None) -> CanonicalTable:
        of = self.data(case, cut).of
        return of_records(of, map(adapter.plain(of), adapter.read(path, of)))


SUBJECTS: dict[str, Subject] = {"tables": _Tables(), "arrays": _Arrays(), "records": _Records()}
"""Subjects by family."""
