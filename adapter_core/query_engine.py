"""Base class of query engines, and the pairs of a format and an engine that are measured."""

from __future__ import annotations

import contextlib
import copy
import importlib
import re
from abc import ABC, abstractmethod
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from adapter_core.adapter import BaseAdapter
from adapter_core.availability import Availability, absence, install_hint, probe
from adapter_core.environments import OwnEnvironment
from adapter_core.errors import UnknownNameError, UnsupportedError
from adapter_core.file_facts import FileFacts
from adapter_core.listing import CLASS_NAME, declarations
from adapter_core.query import TABLE, Query, has_fields, path_of
from adapter_core.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    import pyarrow as pa

    from adapter_core.data_format import DataFormat
    from adapter_core.tunable import TableLayout


class Part(StrEnum):
    """Part of a query that an engine may do itself."""

    COLUMNS = "columns"
    """It reads the columns that the query needs, and no others."""
    ROWS = "rows"
    """It applies the conditions while it reads."""
    POSITIONS = "positions"
    """It reads rows by their numbers."""
    GROUPS = "groups"
    """It computes groups and aggregates."""
    ORDER = "order"
    """It finds the first rows of an order."""
    JOIN = "join"
    """It joins two tables."""
    SQL = "SQL"
    """It takes statements."""
    NEAREST = "neighbours"
    """It finds the neighbours of vectors."""
    GEOMETRIES = "geometries"
    """It selects and joins rows by their geometries."""


ALL_PARTS = frozenset(Part) - {Part.NEAREST, Part.GEOMETRIES}
"""All but neighbours of vectors and geometries, which few libraries know."""


class QueryEngine(ABC):
    """A library that answers queries to the files of some formats.

    `label`, `requires`, `reads` and `environment` are literals, since they are also read without
    importing the file (see `adapter_core.listing`).
    """

    label: ClassVar[str]
    """Name in brackets behind a format's, e.g. "duckdb"."""
    requires: ClassVar[tuple[str, ...]]
    """Requirement strings of the distributions that it needs."""
    reads: ClassVar[tuple[str, ...]]
    """Labels of the formats whose files it reads."""
    does: ClassVar[frozenset[Part]] = ALL_PARTS
    """Parts of a query that it does itself."""
    finished_by: ClassVar[str] = ""
    """Library that does the other parts, within the measured time; empty if there are none."""
    modules: ClassVar[dict[str, str]] = {}
    """Module to import, for required distributions whose module has another name."""
    excluded_from_all: ClassVar[str] = ""
    """Reason why its libraries are in the extra `native`; empty if they are in `all`."""
    environment: ClassVar[str] = ""
    """Name of the environment whose interpreter measures it; empty for that of the library set."""
    notes: ClassVar[Mapping[str, str]] = {}
    """Remarks for readers by format, e.g. on a way through another library."""
    compares_times: ClassVar[frozenset[str]] = frozenset()
    """Labels of the formats in which it compares times and dates, with constants and with each other."""
    compares_decimals: ClassVar[frozenset[str]] = frozenset()
    """Labels of the formats in which it compares decimals, and adds them up, exactly."""
    reads_fields: ClassVar[bool] = True
    """False if it does not read a field of a column of records by its path."""
    searches_indexes: ClassVar[frozenset[str]] = frozenset()
    """Labels of the formats whose tuned files have an index of vectors, by which it may miss some."""
    indexes: ClassVar[frozenset[str]] = frozenset()
    """Labels of the formats to whose tuned files it adds an index of vectors of its own."""
    file_versions: ClassVar[Mapping[str, str]] = {}
    """Versions of the files that its environment writes, by format, where its release of the format's
    library writes another than the library set's."""

    def availability(self) -> Availability:
        """Import the packages of the engine, and report whether it can work in this process."""
        found = probe(self.requires, self.modules, self._install_hint)
        return OwnEnvironment(self.environment).from_here(found) if self.environment else found

    def installed(self) -> Availability:
        """Report whether the packages of the engine are installed, without importing them."""
        if self.environment:
            return OwnEnvironment(self.environment).installed(self.requires)
        return probe(self.requires, self.modules, self._install_hint, absence)

    @property
    def _install_hint(self) -> str:
        if self.environment:
            return OwnEnvironment(self.environment).build_hint
        return install_hint(type(self).__module__.rpartition(".")[2])

    def unsupported(self, format_label: str, query: Query) -> str:  # noqa: ARG002 (few need it)
        """Return the reason why a query cannot be answered from a format; empty if it can."""
        return ""

    def check(self, format_label: str, query: Query) -> None:
        """Raise `UnsupportedError`, with the reason, if a query cannot be answered from a format."""
        reason = self.unsupported(format_label, query)
        needed = {
            Part.POSITIONS: bool(query.positions),
            Part.JOIN: query.join is not None and not query.join.intersects,
            Part.GROUPS: bool(query.aggregates) and not query.is_count,
            Part.ORDER: query.order is not None,
            Part.NEAREST: query.nearest is not None and not query.asks_geometries,
        }
        if query.statement and Part.SQL not in self.does:
            reason = "it takes no SQL"
        if not self.reads_fields and has_fields(query.columns):
            reason = "it has no columns of records"
        if query.compares_times and format_label not in self.compares_times:
            reason = reason or "its comparisons of times have not been written"
        if query.compares_decimals and format_label not in self.compares_decimals:
            reason = reason or "its comparisons of decimals have not been written"
        if query.asks_geometries:
            if Part.GEOMETRIES not in self.does:
                reason = reason or "it knows no geometries"
        elif query.nearest and Part.NEAREST not in self.does and self.finished_by != "pyarrow":
            reason = reason or "it computes no distances of vectors"
        if not reason and not self.finished_by:
            lacking = [part for part, is_needed in needed.items() if is_needed and part not in self.does]
            reason = f"it has no {lacking[0]}" if lacking else ""
        if reason:
            raise self.refused(format_label, reason)

    def refused(self, format_label: str, reason: str) -> UnsupportedError:
        """Return the error of a query that cannot be answered from a format, for a reason."""
        return UnsupportedError(f"{self.label} does not answer this from {format_label}: {reason}")

    @abstractmethod
    def open(self, format_label: str, tables: Mapping[str, Path]) -> Any:
        """Open saved tables and return a handle for `answer` and `close`.

        Parameters
        ----------
        format_label : str
            One of `reads`.
        tables : mapping
            Files, or directories, by the names that queries use.
        """

    @abstractmethod
    def answer(self, handle: Any, query: Query) -> pa.Table:
        """Return the answer in memory, columns by position as `Query` declares them."""

    def close(self, handle: Any) -> None:  # noqa: B027 (most handles need none)
        """Close a handle."""

    def index(self, format_label: str, path: Path, lookups: Sequence[str]) -> None:  # noqa: B027
        """Add an index of each lookup column of vectors to a tuned file, in it or beside it.

        Parameters
        ----------
        format_label : str
            One of `indexes`.
        path : Path
            The file, alone with other tables and their indexes in a directory.
        lookups : sequence of str
            Columns of any types that questions look up values in.
        """


class EngineOnFormat(BaseAdapter):
    """A query engine on the files of a format, e.g. ``Parquet[duckdb]``.

    The tables of a data set are files in one directory, saved by the format's usual adapter, which
    writes as its library does unasked: with its own default codec.

    Parameters
    ----------
    engine : QueryEngine
        The engine.
    data_format : DataFormat
        One of the formats that it reads.
    """

    file_facts = FileFacts(silent="its files are those of the table format")
    snippet = "it asks questions of files that a format writes; the table formats have the code"

    suffix: ClassVar[str] = ".tables"
    requires: ClassVar[tuple[str, ...]] = ()
    codecs: ClassVar[tuple[Any, ...]] = ()
    default_codec: ClassVar[str | None] = None

    def __init__(self, engine: QueryEngine, data_format: DataFormat) -> None:
        self.engine, self.format = engine, data_format
        # Instances are pairs, so their facts are not class attributes.
        vars(self)["label"] = f"{data_format.label}[{engine.label}]"
        vars(self)["requires"] = tuple(dict.fromkeys((*engine.requires, *data_format.requires)))
        vars(self)["traits"] = data_format.traits
        vars(self)["excluded_from_all"] = engine.excluded_from_all
        vars(self)["environment"] = engine.environment

    def availability(self) -> Availability:
        """Import the packages of the format and of the engine, and report whether both can work here."""
        found = self.format.availability()
        if not found:
            return found
        own = self.engine.availability()
        if not own:
            return own
        return Availability(available=True, versions=found.versions | own.versions)

    def installed(self) -> Availability:
        """Report whether the packages of both are installed, without importing them."""
        found = self.format.installed()
        return self.engine.installed() if found else found

    @property
    def facts_of_files(self) -> FileFacts:
        """The facts of the format's files, as the environment of the engine writes them."""
        version = self.engine.file_versions.get(self.format.label)
        return replace(self.format.file_facts, version=version) if version else self.format.file_facts

    def paths(self, folder: Path, names: Any = (TABLE,)) -> dict[str, Path]:
        """Return the paths of tables in the directory of a data set, by name."""
        return {name: folder / f"{name}{self.format.suffix}" for name in names}

    def without_check(self) -> Self:
        """Return a pair whose saves leave out `check`, the format's included."""
        pair = super().without_check()
        pair.format = self.format.without_check()
        return pair

    def check(self, tables: Mapping[str, pd.DataFrame]) -> None:
        """Raise `CannotHoldError`, with the reason, if the format cannot store a table as it is."""
        for df in tables.values():
            self.format.check(df)

    def check_query(self, query: Query) -> None:
        """Raise `UnsupportedError`, with the reason, if a query cannot be answered."""
        self.engine.check(self.format.label, query)
        names = [path_of(name)[0] for name in (*query.read, *query.groups)]
        kept = self.format.kept_names
        if kept and (others := [name for name in names if not re.fullmatch(kept, name)]):
            raise self.engine.refused(
                self.format.label,
                f"{others[0]!r} is no name there, so its column has another in the file",
            )
        floats = (each for each in query.constants if isinstance(each, float))
        if not all(map(self.format.keeps_float, floats)):
            reason = (
                f"its files keep {self.format.kept_digits} digits of floats, and a constant has more"
            )
            raise self.engine.refused(self.format.label, reason)
        if self.format.shortens_singles and query.compares_singles:
            reason = "its text has few digits of 32-bit floats, which are other floats of 64 bits"
            raise self.engine.refused(self.format.label, reason)

    def save(self, tables: Mapping[str, pd.DataFrame], folder: Path) -> None:
        """Write tables into a directory, by names; replace an earlier directory.

        Raises
        ------
        CannotHoldError
            If the format cannot store a table as it is. Nothing has been written then.
        """
        if self.checks_saves:
            self.check(tables)
        with self.replacing(folder) as temporary:
            temporary.mkdir()
            for name, path in self.paths(temporary, tables).items():
                self.format.save(tables[name], path, self.format.default_codec)

    def save_tuned(
        self,
        tables: Mapping[str, pd.DataFrame],
        folder: Path,
        tuned: Mapping[str, tuple[Sequence[str], Sequence[str]]],
    ) -> None:
        """Write tables into a directory, some by `DataFormat.save_tuned`; replace an earlier one.

        Parameters
        ----------
        tables, folder
            As for `save`.
        tuned : mapping
            Sort keys and lookup columns of tables, as `DataFormat.save_tuned` takes them.

        Raises
        ------
        CannotHoldError
            If the format cannot store a table as it is. Nothing has been written then.
        """
        if self.checks_saves:
            self.check(tables)
        with self.replacing(folder) as temporary:
            temporary.mkdir()
            for name, path in self.paths(temporary, tables).items():
                if name in tuned:
                    self.format.save_tuned(tables[name], path, *tuned[name])
                    if self.format.label in self.engine.indexes:
                        self.engine.index(self.format.label, path, tuned[name][1])
                else:
                    self.format.save(tables[name], path, self.format.default_codec)

    def save_laid_out(
        self, tables: Mapping[str, pd.DataFrame], folder: Path, name: str, layout: TableLayout
    ) -> None:
        """Write tables into a directory, one of them in a layout; replace an earlier directory.

        Raises
        ------
        CannotHoldError
            If the format cannot store a table as it is. Nothing has been written then.
        UnsupportedError
            If it has no such layout.
        """
        laid_out = copy.copy(self)
        laid_out.format = self.format.with_layout(layout)
        laid_out.save_tuned(tables, folder, {name: (layout.sort_by, layout.lookups)})


class EngineRegistry(Registry[EngineOnFormat]):
    """Pairs of a format and an engine, by labels like ``Parquet[duckdb]``.

    Parameters
    ----------
    package, folder
        The package with the engines, and its folder.
    formats : Registry
        The formats.
    """

    def __init__(self, package: str, folder: Path, formats: Registry[DataFormat]) -> None:
        super().__init__(package, folder, "query engine on a format")
        self._formats = formats

    def names(self) -> list[str]:
        """Return the labels of all pairs, available or not, in alphabetical order."""
        own = {label for each in declarations(self.folder) for label in each.labels}
        entries = {f"{each}[{name}]" for name, engine in self._others().items() for each in engine.reads}
        return sorted(own | entries, key=lambda label: (label.lower(), label))

    def groups(self) -> dict[str, str]:
        """Return an empty group for each pair: all belong to the family's first suite."""
        return dict.fromkeys(self.names(), "")

    def engines(self) -> list[QueryEngine]:
        """Return all engines, available or not, by label."""
        own = [self._engine(each.stem) for each in declarations(self.folder)]
        return sorted([*own, *(each() for each in self._others().values())], key=lambda each: each.label)

    def find(self, name: str) -> EngineOnFormat:
        """Return the pair with that label, available or not.

        Raises
        ------
        UnknownNameError
            If the label does not exist; the message lists near matches.
        """
        format_label, _, engine = name.removesuffix("]").rpartition("[")
        for each in declarations(self.folder):
            if each.label == engine and format_label in each.reads:
                return EngineOnFormat(self._engine(each.stem), self._formats.find(format_label))
        other = self._others().get(engine)
        if other is None or format_label not in other.reads:
            raise UnknownNameError(self.noun, name, self.names())
        return EngineOnFormat(other(), self._formats.find(format_label))

    def _engine(self, stem: str) -> QueryEngine:
        module = importlib.import_module(f"{self.package}.{stem}")
        engine: QueryEngine = getattr(module, CLASS_NAME)()
        return engine

    def _others(self) -> dict[str, type[QueryEngine]]:
        """Return the engines of other packages by label; one that cannot be imported is left out."""
        found = {}
        for name, entry in self._entry_points().items():
            with contextlib.suppress(Exception):
                found[name] = entry.load()
        return found
