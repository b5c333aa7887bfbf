"""Tables written for queries: sorted by any format, and with indexes or statistics by some."""

from __future__ import annotations

import copy
import os
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self
from urllib.parse import quote, unquote

from adapter_core.codec_choice import CodecChoice
from adapter_core.errors import UnknownNameError, UnsupportedError
from adapter_core.kinds import NESTED, Kind, kind_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class TableLayout:
    """A writer's choices for queries to a table; without any, the library's defaults.

    `Tunable.layout_names` are the ones that a format has, besides the order of rows.
    """

    sort_by: tuple[str, ...] = ()
    """Columns to sort the rows by, ascending, nulls last."""
    lookups: tuple[str, ...] = ()
    """Columns with an index or a bloom filter for lookups of values."""
    partition_by: tuple[str, ...] = ()
    """Columns with a folder for each value."""
    group_rows: int | None = None
    """Most rows of a row group."""
    page_rows: int | None = None
    """Most rows of a page."""
    codec: str = ""
    """Codec, as in "zstd:3"; "none" for none."""
    encodings: tuple[tuple[str, str], ...] = ()
    """Columns with encodings, by the format's names, in place of the usual dictionary."""
    statistics: tuple[str, ...] = ()
    """Columns with least and greatest values; empty for the library's choice."""

    def __str__(self) -> str:
        """Return the layout as records have it, e.g. "sort_by=time;group_rows=65536"."""
        found = []
        for each in fields(self):
            if value := getattr(self, each.name):
                found.append(f"{each.name}={_text_of(value)}")
        return ";".join(found) or DEFAULT_LAYOUT

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the layout of a text that `str` has made of one; names of columns are percent-encoded.

        Raises
        ------
        ValueError
            If it is none.
        """
        if text == DEFAULT_LAYOUT:
            return cls()
        found: dict[str, Any] = {}
        known = {each.name for each in fields(cls)}
        for part in text.split(";"):
            name, _, value = part.partition("=")
            if name not in known or not value:
                raise ValueError(
                    f"{part!r} is none of {', '.join(f'{each}=' for each in sorted(known))}"
                )
            if name.endswith("_rows"):
                if not value.isdecimal() or not int(value):
                    raise ValueError(f"{name} is {value!r}; write a number of rows")
                found[name] = int(value)
            elif name == "codec":
                found[name] = value
            elif name == "encodings":
                pairs = [each.partition(":")[::2] for each in value.split("+")]
                found[name] = tuple((unquote(column), encoding) for column, encoding in pairs)
            else:
                found[name] = tuple(unquote(each) for each in value.split("+"))
        return cls(**found)

    @property
    def filtered(self) -> list[str]:
        """The lookup columns that are not sort keys, which have filters or indexes."""
        return [name for name in dict.fromkeys(self.lookups) if name not in self.sort_by]

    @property
    def codec_and_level(self) -> tuple[str, int | None]:
        """Name and level of the codec; the level is None without one."""
        name, _, level = self.codec.partition(":")
        return name, int(level) if level else None


DEFAULT_LAYOUT = "defaults"
"""Text of a layout without choices."""


def _text_of(value: Any) -> str:
    if not isinstance(value, tuple):
        return str(value)
    parts = [[each] if isinstance(each, str) else each for each in value]
    return "+".join(":".join(quote(one, safe=" ") for one in each) for each in parts)


class SortedSaves(CodecChoice):
    """Saves of sorted tables: the part of `DataFormat` that `Tunable` formats add to."""

    tuned_options: ClassVar[Mapping[str, Any]] = {}
    """Options of the library in `save_tuned`, by its own names for them."""
    tuned_indexes: ClassVar[str] = ""
    """Phrase on the additions of `save_tuned` for the sort key and the lookup columns, e.g. indexes."""
    not_indexed: ClassVar[frozenset[Kind]] = NESTED
    """Kinds of column that the library makes no index, filter or statistics of; they are left out."""
    orders_rows_by_place: ClassVar[bool] = False
    """True if `save_tuned` writes the rows of a table with geometries in an order of their places."""
    layout_names: ClassVar[Mapping[str, str]] = {}
    """The library's options for fields of `TableLayout`, e.g. {"group_rows": "row_group_size"}."""
    layout_codecs: ClassVar[tuple[str, ...]] = ()
    """Codecs that differ in kind, to choose a layout's from, e.g. "zstd:3"."""

    def with_layout(self, layout: TableLayout) -> Self:
        """Return an adapter whose `save_tuned` has the options of a layout in place of `tuned_options`.

        Raises
        ------
        UnsupportedError
            If the format lacks one of its choices.
        """
        adapter = copy.copy(self)
        vars(adapter)["tuned_options"] = self.layout_options(layout)
        return adapter

    def layout_options(self, layout: TableLayout) -> dict[str, Any]:
        """Return the library's options for a layout, apart from its order and its lookup columns.

        Raises
        ------
        UnsupportedError
            If the format lacks one of its choices.
        """
        chosen = {each.name: getattr(layout, each.name) for each in fields(layout)}
        for name in ("sort_by", "codec"):
            del chosen[name]
        codec, level = layout.codec_and_level
        chosen |= {"codec": codec, "level": level}
        for name, value in chosen.items():
            if value and name not in self.layout_names:
                raise UnsupportedError(f"{self.label} has no choice of {name.replace('_', ' ')}")
        names = self.layout_names
        return {names[name]: value for name, value in chosen.items() if value and names[name]}

    def layout_code(self, layout: TableLayout, names: Sequence[str]) -> str:
        """Return Python that writes a pandas data frame `df`, sorted before, to `target` in a layout.

        Parameters
        ----------
        layout : TableLayout
            The layout, of the choices that the format has.
        names : sequence of str
            The columns of the table.
        """
        raise UnsupportedError(
            f"{self.label} has no code for layouts, e.g. {layout} of {len(names)} columns"
        )

    def save_tuned(
        self,
        df: pd.DataFrame,
        path: str | os.PathLike[str],
        sort_by: Sequence[str],
        lookups: Sequence[str] = (),
    ) -> None:
        """Write a table for queries: sorted, with the statistics, indexes or filters of the format.

        The writer knows the columns that queries select by, but no constants of theirs. Its options are
        `tuned_options`. The file is read like one of `save`.

        Parameters
        ----------
        df, path
            As for `save`.
        sort_by : sequence of str
            The columns to sort the rows by, ascending, nulls last.
        lookups : sequence of str, optional
            Further columns that queries look up values in.

        Raises
        ------
        CannotHoldError
            If the format cannot store this table as it is. Nothing has been written then.
        UnknownNameError
            If a column is not in the table.
        FileNotFoundError
            If the folder to write in does not exist.
        """
        path = self._in_folder(path)
        for name in (*sort_by, *lookups):
            if name not in df.columns:
                raise UnknownNameError("column", name, list(df.columns))
        if self.checks_saves:
            self.check(df)
        if sort_by and not (len(sort_by) == 1 and df[sort_by[0]].is_monotonic_increasing):
            df = df.sort_values(list(sort_by), kind="stable", ignore_index=True)
        others = self._indexable(df, [name for name in dict.fromkeys(lookups) if name not in sort_by])
        with self.replacing(path) as temporary:
            self._save_tuned(df, temporary, list(sort_by), others)

    def _indexable(self, df: pd.DataFrame, names: Sequence[str]) -> list[str]:
        """Return the columns whose kind is not among `not_indexed`."""
        return [name for name in names if kind_of(df[name].dtype, df[name]) not in self.not_indexed]

    def tuning(self) -> str:
        """Return the work of `save_tuned`, with all options, in one phrase."""
        options = [f"{name}={value}" for name, value in self.tuned_options.items()]
        return "; ".join(filter(None, ["rows sorted", self.tuned_indexes, ", ".join(options)]))

    @abstractmethod
    def check(self, df: pd.DataFrame) -> None:
        """Raise `CannotHoldError`, with the reason, if the format cannot store this table as it is."""

    @abstractmethod
    def _save_tuned(self, df: pd.DataFrame, path: Path, sort_by: list[str], lookups: list[str]) -> None:
        """Write the checked and sorted table."""


class Tunable(SortedSaves):
    """A table format that has more than an order of rows for queries, e.g. indexes or statistics.

    An adapter declares `tuned_options` and `tuned_indexes`, and implements `_save_tuned`.
    """

    @abstractmethod
    def _save_tuned(self, df: pd.DataFrame, path: Path, sort_by: list[str], lookups: list[str]) -> None:
        """Write the checked and sorted table.

        Parameters
        ----------
        df, path
            As for `_save`.
        sort_by, lookups : list of str
            Columns that exist; no lookup column is a sort key.
        """
