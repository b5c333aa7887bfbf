"""Sections of a study's page: text, extents, tables of values or ratios, and gaps."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any, Literal

import msgspec

from format_bench.report.losses_and_gaps import rows_of_gaps
from format_bench.results.conditions import threads_in_words
from format_bench.results.display.text import format_ratio, plural, quantity
from format_bench.results.groups import NOT_RUN, query_order
from format_bench.results.status import WRONG
from format_bench.studies.declared.answers import Answers
from format_bench.studies.declared.blocks import MISSING, Block, Context, SectionBase, imported, replaced
from format_bench.studies.declared.published import Published, Ranking
from format_bench.studies.declared.selection import Number, Numbers, counterparts, first_of
from format_bench.studies.declared.spread import Rounds, Spread
from format_bench.studies.declared.verdicts import geometric_mean

VERIFIED = "all equal to NumPy's"
"""End of the remark on a compared answer."""


class Text(SectionBase, tag="text", kw_only=True):
    """A paragraph."""

    def blocks(self, context: Context) -> Iterator[Block]:
        """Yield the paragraph."""
        del context
        yield Block(self.title, self.text)


class Made(SectionBase, tag="made", kw_only=True):
    """Blocks that a function makes."""

    by: str
    """The function, as "module:name"; it takes the context, and yields blocks."""
    given: dict[str, str] = msgspec.field(default_factory=dict)
    """Further arguments by name."""

    def blocks(self, context: Context) -> Iterator[Block]:
        """Yield the blocks of the function; nothing, also no title, if it finds nothing."""
        found = list(imported(self.by)(context, **self.given))
        if not found:
            return
        first = found[0]
        yield replace(first, title=first.title or self.title, text=first.text or self.text)
        yield from found[1:]


class Extent(SectionBase, tag="extent", kw_only=True):
    """How much was measured: a row for each group of results."""

    title: str = "Measured"
    columns: dict[str, str]
    """Counts by heading; see `_counts`. {answers}, {verified} and {wrong} in the text are their sums."""

    def blocks(self, context: Context) -> Iterator[Block]:
        """Yield the table."""
        rows = []
        totals: dict[str, int] = {}
        for scope in context.numbers.scopes():
            counts = _counts(scope, self.select)
            if scope.every:
                rows.append([_text(counts[name]) for name in self.columns.values()])
                for name, value in counts.items():
                    if isinstance(value, int):
                        totals[name] = totals.get(name, 0) + value
        header = list(self.columns)
        alignment = "".join("l" if name in _WORDS else "r" for name in self.columns.values())
        shown = {name: f"{value:,}" for name, value in totals.items()}
        shown["answers came"] = f"{plural(totals.get('wrong', 0), 'answer')} came"
        yield Block(self.title, replaced(self.text, shown), header, rows, alignment)


_WORDS = ("dataset", "name", "threads")


def _counts(scope: Numbers, select: dict[str, Any]) -> dict[str, str | int]:
    found = scope.select(select)
    (group,) = scope.suite.groups
    metrics = {each.metric for each in found}
    cells = {
        (configuration, measure.query, cell.sentence.endswith(VERIFIED), WRONG in cell.sentence)
        for (configuration, measure), cell in group.cells.items()
        if measure.metric in metrics
    }
    return {
        "dataset": group.dataset,
        "name": group.name,
        "rows": group.rows,
        "threads": group.threads,
        "formats": len({each.format for each in found}),
        "configurations": len({each.name for each in found}),
        "queries": len({each.query for each in found}),
        "answers": len({(each.name, each.query) for each in found}),
        "verified": len({cell[:2] for cell in cells if cell[2]}),
        "wrong": len({cell[:2] for cell in cells if cell[3]}),
    }


def _text(value: str | int) -> str:
    return value if isinstance(value, str) else f"{value:,}"


class Column(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A column of numbers, or of ratios."""

    select: dict[str, Any]
    over: dict[str, Any] | None = None
    """Fields in which the number below differs; the section's if it is missing."""
    show: str = ""
    """Format of the value, as Python's; else with its unit."""
    scale: float = 1.0
    """Factor of values with a format, for another unit."""
    beside: list[Column] = []
    """Columns whose values are in the same cells, after a semicolon."""
    by: Literal["value", "median", "mean"] = "value"
    """Of several in a cell: the one of most rows, or the median or geometric mean with the range."""
    interval: bool = False
    """Whether values have their interval beside them."""
    place: bool = False
    """Whether values have their place in the column in their stead; the smallest has place 1."""

    def value(self, number: Number) -> str:
        """Return a number as text."""

        def text(value: float) -> str:
            return format(value * self.scale, self.show) if self.show else quantity(value, number.unit)

        shown = text(number.value)
        low, high = map(text, number.interval or (number.value, number.value))
        return f"{shown} ({low} to {high})" if self.interval and {low, high} != {shown} else shown

    def summary(self, values: Sequence[float]) -> str:
        """Return several values, or ratios, as text."""
        if self.by == "value":
            return format(values[-1], self.show) if self.show else format_ratio(values[-1])
        middle = median(values) if self.by == "median" else geometric_mean(values)
        texts = [f"{each:.3g}" for each in (middle, min(values), max(values))]
        same = self.by == "median" and texts[1] == texts[2]
        return texts[0] if same else "{} ({} to {})".format(*texts)


@dataclass
class _Cell:
    """Value of a row in a column."""

    first: Number
    values: list[float]
    text: str = ""


_Row = tuple[str, ...]


class Table(SectionBase, tag="table", kw_only=True):
    """Values, or their ratios to counterparts: a row for each configuration."""

    columns: dict[str, Column]
    spread: str = ""
    """A field or an axis: each of its values has the columns, with the value for {value} in headings."""
    over: dict[str, Any] | None = None
    """Fields in which the number below a ratio differs from the one above, as in claims."""
    renamed: dict[str, str] = msgspec.field(default_factory=dict)
    """Or: expressions in the format above, and their replacements in the format below."""
    heads: dict[str, str] = msgspec.field(default_factory=lambda: {"format": "name"})
    """Fields of a number, or axes, by heading: the first columns."""
    tables: Literal["all", "each", "largest"] = "all"
    """One of all results, where the largest size of each cell counts; one for each group; or one."""
    each_of: str = ""
    """A field or an axis: each of its values has a table, with the value for {value} in the title."""
    order: list[str] = msgspec.field(default_factory=list)
    """Patterns of formats in order; else by the mean of the columns in `ranked`."""
    ranked: list[str] = msgspec.field(default_factory=list)
    only_with: str = ""
    """A column without which a row is left out."""
    apart: float = 0.0
    """Rows without a ratio that differs from 1 by more are left out."""
    complete: bool = False
    """Whether rows with an empty cell are left out."""
    marks: bool = False
    """Whether an empty cell has its status, e.g. "unsupported"."""

    def blocks(self, context: Context) -> Iterator[Block]:
        """Yield a block for each table."""
        scopes = [context.numbers]
        if self.tables != "all":
            scopes = context.numbers.scopes(largest_first=self.tables == "largest")
        if self.each_of:
            tables = [
                (scope, value, self.select | {self.each_of: value})
                for scope in scopes
                for value in _values_of(scope.select(self.select), self.each_of)
            ]
        else:
            tables = [(scope, "", self.select) for scope in scopes]
        found = [each for each in (self._block(*table) for table in tables) if each.rows]
        if self.tables == "largest":
            found = found[:1]
        if not found:
            text = "Not measured, or without a difference." if self.over else "Not measured."
            found = [Block(self.title, f"{self.text} {text}".strip() if self.over else text)]
        yield from found

    def _block(self, scope: Numbers, value: str, select: dict[str, Any]) -> Block:
        columns = self._spread_columns(scope, select)
        cells = {name: self._joined_cells(scope, select, each) for name, each in columns.items()}
        firsts: dict[_Row, Number] = {}
        for found in cells.values():
            for row, cell in found.items():
                firsts.setdefault(row, cell.first)
        kept = {row: each for row, each in firsts.items() if self._is_shown(row, cells)}
        rows = [
            [*row, *(found[row].text if row in found else MISSING for found in cells.values())]
            for row in self._in_order(kept, cells)
        ]
        facts = _facts(scope) | {"value": value}
        return Block(
            replaced(self.title, facts),
            replaced(self.text, facts),
            [*self.heads, *columns],
            rows,
            "l" * len(self.heads) + "r" * len(columns),
            fold=self.fold,
        )

    def _spread_columns(self, scope: Numbers, select: dict[str, Any]) -> dict[str, Column]:
        if not self.spread:
            return self.columns
        found: dict[str, Column] = {}
        for name, column in self.columns.items():
            wanted = select | column.select
            seen = scope.select(wanted) + (scope.gaps(wanted) if self.marks else [])
            for value in _values_of(seen, self.spread):
                own = msgspec.structs.replace(column, select=column.select | {self.spread: value})
                found[replaced(name, {"value": value})] = own
        return found

    def _joined_cells(self, scope: Numbers, select: dict[str, Any], column: Column) -> dict[_Row, _Cell]:
        cells = self._cells(scope, select, column)
        for each in column.beside:
            for row, other in self._cells(scope, select | column.select, each).items():
                # Both have the same status if they have no values.
                if row in cells and cells[row].text != other.text:
                    cells[row].text += f"; {other.text}"
        return cells

    def _cells(self, scope: Numbers, select: dict[str, Any], column: Column) -> dict[_Row, _Cell]:
        wanted = select | column.select
        cells: dict[_Row, _Cell] = {}
        over = self.over if column.over is None else column.over
        if over is None and not self.renamed:
            for each in sorted(scope.select(wanted), key=lambda each: each.rows):
                cell = cells.setdefault(self._row_of(each, None, scope), _Cell(each, []))
                cell.values.append(each.value)
                cell.text = column.value(each) if column.by == "value" else column.summary(cell.values)
            if column.place:
                order = sorted(cell.values[-1] for cell in cells.values())
                for cell in cells.values():
                    cell.text = str(order.index(cell.values[-1]) + 1)
            if self.marks:
                for each in scope.gaps(wanted):
                    cells.setdefault(self._row_of(each, None, scope), _Cell(each, [], each.status))
            return cells
        for a, b in self._pairs(scope.select(wanted), scope.select(wanted | (over or {})), over or {}):
            if b.value and (a.value or column.by == "value"):
                cell = cells.setdefault(self._row_of(a, b, scope), _Cell(a, []))
                cell.values.append(a.value / b.value)
                cell.text = column.summary(cell.values)
        return cells

    def _pairs(
        self, upper: list[Number], lower: list[Number], over: dict[str, Any]
    ) -> Iterator[tuple[Number, Number]]:
        if not self.renamed:
            yield from counterparts(upper, lower, {*over})
            return
        by_cell = {(each.format, *each.without({"format"})): each for each in lower}
        for each in upper:
            name = self._lower_name(each.format)
            other = by_cell.get((name, *each.without({"format"})))
            if other is not None and other is not each:
                yield each, other

    def _lower_name(self, label: str) -> str:
        for pattern, other in self.renamed.items():
            label, number = re.subn(pattern, other, label)
            if number:
                break
        return label

    def _row_of(self, one: Number, other: Number | None, scope: Numbers) -> _Row:
        return tuple(_head(name, one, other, scope) for name in self.heads.values())

    def _is_shown(self, row: _Row, cells: dict[str, dict[_Row, _Cell]]) -> bool:
        if self.only_with and row not in cells[self.only_with]:
            return False
        if self.complete and not all(row in found for found in cells.values()):
            return False
        values = itertools.chain(*(found[row].values for found in cells.values() if row in found))
        return not self.apart or any(abs(each - 1) > self.apart for each in values)

    def _in_order(
        self, firsts: dict[_Row, Number], cells: dict[str, dict[_Row, _Cell]]
    ) -> Sequence[_Row]:
        if self.over or self.renamed:
            return sorted(firsts, key=lambda row: [each.casefold() for each in row])
        if not self.ranked:
            rows = {id(number): row for row, number in firsts.items()}
            return [rows[id(each)] for each in first_of(list(firsts.values()), self.order)]
        means = {}
        for row in firsts:
            # A cell without a value has the reason for it.
            ranked = [cells[name][row].values for name in self.ranked if row in cells[name]]
            values = [each[-1] for each in ranked if each and each[-1]]
            if values:
                means[row] = len(self.ranked) - len(values), geometric_mean(values)
        return sorted(means, key=lambda row: means[row])


def _values_of(numbers: Sequence[Number], name: str) -> list[str]:
    """Return the values of a field of numbers, in order; numbers in them count as numbers."""
    found = dict.fromkeys(str(each.field(name)) for each in numbers)
    # Kinds of queries are in the order of their family.
    return list(found) if name == "heading" else sorted(found, key=query_order)


def _head(name: str, one: Number, other: Number | None, scope: Numbers) -> str:
    match name:
        case "place":
            return scope.place(one)
        case "pair":
            return f"{one.format} / {other.format}" if other else one.format
        case "rows":
            return f"{one.rows:,}"
        case _:
            return one.name if name == "name" else str(one.field(name))


def _facts(scope: Numbers) -> dict[str, str]:
    """Return facts of a group by the names that titles and texts have for them."""
    first = next(iter(scope.every), None)
    if first is None:
        return {}
    return {
        "dataset": first.dataset,
        "name": scope.place(first),
        "rows": f"{first.rows:,}",
        "threads": threads_in_words(first.threads),
    }


class LeftOut(SectionBase, tag="left out", kw_only=True):
    """The empty cells with their reasons, folded."""

    title: str = "Left out"
    first: str = "format"
    """Heading of the configurations."""
    requested: bool = False
    """Whether cells that the runs did not request are left out, too."""

    def blocks(self, context: Context) -> Iterator[Block]:
        """Yield the table; configurations with the same cells and reason share a row."""
        stores: dict[tuple[str, ...], list[str]] = {}
        for _, store, *others in rows_of_gaps([context.numbers.suite]):
            if not (self.requested and NOT_RUN.status in others):
                stores.setdefault(tuple(others), []).append(store)
        rows = [["; ".join(labels), *others] for others, labels in stores.items()]
        header = [self.first, "data sets", "cells", "status", "reason"]
        text = self.text if rows else f"{self.text} Every cell has a value.".strip()
        yield Block(self.title, text, header, rows, "lllll", fold=True)


Section = Text | Made | Extent | Table | Published | Ranking | Rounds | Spread | LeftOut | Answers
