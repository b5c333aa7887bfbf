"""Sections of a study's page: values, ratios, numbers beside published ones, and what is left out."""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from statistics import fmean, median
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from adapter_core.errors import NoCommonCellsError
from format_bench.comparison import Comparison, compare
from format_bench.report.losses_and_gaps import rows_of_gaps
from format_bench.report.queries import QueryTable, query_names, query_tables
from format_bench.results.display.text import format_ratio, joined, plural, quantity
from format_bench.results.groups import NOT_RUN
from format_bench.results.load import load
from format_bench.results.status import WRONG
from format_bench.studies.declared.blocks import Block
from format_bench.studies.declared.claims import counterparts, geometric_mean
from format_bench.studies.declared.selection import Number, Numbers, first_of

if TYPE_CHECKING:
    from format_bench.results.load import Results

VERIFIED = "all equal to NumPy's"
"""End of the remark on a compared answer."""

MISSING = "-"


@dataclass(frozen=True)
class Context:
    """Material of sections."""

    results: Results
    numbers: Numbers
    published: str
    explanations: dict[str, str]

    @functools.cached_property
    def comparison(self) -> Comparison | None:
        """The published results beside ours; None if nothing is common to them."""
        try:
            return compare(load(self.published), self.results)
        except NoCommonCellsError:
            return None


class SectionBase(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, tag_field="kind"):
    """Fields of all sections."""

    title: str = ""
    text: str = ""
    select: dict[str, Any] = {}
    """Patterns that all its numbers share."""
    fold: bool = False

    def blocks(self, context: Context) -> Iterator[Block]:
        """Yield the blocks of the section."""
        raise NotImplementedError


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
    given: dict[str, str] = {}
    """Further arguments by name."""

    def blocks(self, context: Context) -> Iterator[Block]:
        """Yield the blocks of the function."""
        module, _, name = self.by.partition(":")
        found = list(getattr(import_module(module), name)(context, **self.given))
        first = found[0] if found else Block()
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
        yield Block(self.title, _replaced(self.text, shown), header, rows, alignment)


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


def _replaced(text: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text


class Column(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A column of numbers."""

    select: dict[str, Any]
    show: str = ""
    """Format of the value, as Python's; else with its unit."""
    by: Literal["value", "median", "mean"] = "value"
    """Of ratios of several queries: their median or geometric mean, with the range."""

    def text(self, number: Number | None) -> str:
        """Return a number as text."""
        if number is None:
            return MISSING
        return format(number.value, self.show) if self.show else number.quantity


class Values(SectionBase, tag="values", kw_only=True):
    """Values: a row for each configuration."""

    columns: dict[str, Column]
    heads: dict[str, str] = msgspec.field(default_factory=lambda: {"format": "name"})
    """Fields of a number by heading: the first columns."""
    tables: Literal["all", "each", "largest"] = "each"
    """One of all results, where the largest size of each cell counts; one for each group; or one."""
    order: list[str] = []
    """Patterns of formats in order; else by the mean of the columns in `ranked`."""
    ranked: list[str] = []
    only_with: str = ""
    """A column without which a configuration is left out."""

    def blocks(self, context: Context) -> Iterator[Block]:
        """Yield a block for each table."""
        scopes = self._scopes(context.numbers)
        found = [each for each in map(self._block, scopes) if each.rows]
        if self.tables == "largest":
            found = found[:1]
        yield from found or [Block(self.title, "Not measured.")]

    def _scopes(self, numbers: Numbers) -> list[Numbers]:
        if self.tables == "all":
            return [numbers]
        return numbers.scopes(largest_first=self.tables == "largest")

    def _block(self, scope: Numbers) -> Block:
        columns = {
            name: {
                self._row_of(each): each
                for each in sorted(scope.select(self.select | column.select), key=lambda each: each.rows)
            }
            for name, column in self.columns.items()
        }
        firsts: dict[tuple[str, ...], Number] = {}
        for found in columns.values():
            for row, number in found.items():
                firsts.setdefault(row, number)
        if self.only_with:
            firsts = {row: each for row, each in firsts.items() if row in columns[self.only_with]}
        in_order = self._in_order(firsts, columns)
        rows = [
            [*row, *(self.columns[name].text(found.get(row)) for name, found in columns.items())]
            for row in in_order
        ]
        facts = _facts(scope)
        return Block(
            _replaced(self.title, facts),
            _replaced(self.text, facts),
            [*self.heads, *self.columns],
            rows,
            "l" * len(self.heads) + "r" * len(self.columns),
            fold=self.fold,
        )

    def _row_of(self, number: Number) -> tuple[str, ...]:
        return tuple(str(getattr(number, each)) for each in self.heads.values())

    def _in_order(
        self, firsts: dict[tuple[str, ...], Number], columns: dict[str, dict[tuple[str, ...], Number]]
    ) -> list[tuple[str, ...]]:
        if not self.ranked:
            return [self._row_of(each) for each in first_of(list(firsts.values()), self.order)]
        means = {}
        for row in firsts:
            values = [
                found.value for name in self.ranked if (found := columns[name].get(row)) and found.value
            ]
            if values:
                means[row] = len(self.ranked) - len(values), geometric_mean(values)
        return sorted(means, key=lambda row: means[row])


def _facts(scope: Numbers) -> dict[str, str]:
    """Return facts of a group by the names that titles and texts have for them."""
    first = next(iter(scope.every), None)
    if first is None:
        return {}
    threads = "1 thread" if first.threads == "1" else f"{first.threads} threads"
    return {
        "dataset": first.dataset,
        "name": scope.place(first),
        "rows": f"{first.rows:,}",
        "threads": threads,
    }


class Ratios(SectionBase, tag="ratios", kw_only=True):
    """Values by values of a counterpart that differs in one field, e.g. the track or the threads."""

    columns: dict[str, Column] = {}
    by_heading: Column | None = None
    """A column for each kind of query instead."""
    upper: dict[str, Any] = {}
    lower: dict[str, Any] = {}
    """The patterns in which both differ."""
    renamed: dict[str, str] = {}
    """Or: expressions in the format of the upper one, and what the lower one has in their place."""
    heads: dict[str, str] = msgspec.field(default_factory=lambda: {"format": "name"})
    apart: float = 0.0
    """Rows without a ratio that differs from 1 by more are left out."""
    complete: bool = False
    """Whether rows with an empty cell are left out."""

    def blocks(self, context: Context) -> Iterator[Block]:
        """Yield the table."""
        columns = self.columns
        if self.by_heading:
            names = query_names(context.numbers.suite.name)
            headings: dict[str, list[str]] = {}
            for each in context.numbers.select(self.select | self.by_heading.select):
                heading = names[each.query].heading if each.query in names else each.query
                headings.setdefault(heading, []).append(each.query)
            columns = {
                heading: msgspec.structs.replace(
                    self.by_heading, select=self.by_heading.select | {"query": queries}
                )
                for heading, queries in headings.items()
            }
        found = {name: self._column(context.numbers, column) for name, column in columns.items()}
        rows = []
        in_order = sorted(
            {row for each in found.values() for row in each},
            key=lambda row: [text.casefold() for text in row],
        )
        for row in in_order:
            ratios = [each.get(row, []) for each in found.values()]
            if self.complete and not all(ratios):
                continue
            if self.apart and not any(abs(each - 1) > self.apart for each in itertools.chain(*ratios)):
                continue
            texts = [
                _summary(each, column) for each, column in zip(ratios, columns.values(), strict=True)
            ]
            rows.append([*row, *texts])
        if rows:
            alignment = "l" * len(self.heads) + "r" * len(columns)
            yield Block(self.title, self.text, [*self.heads, *columns], rows, alignment, fold=self.fold)
        else:
            yield Block(self.title, f"{self.text} Not measured, or without a difference.".strip())

    def _column(self, numbers: Numbers, column: Column) -> dict[tuple[str, ...], list[float]]:
        upper = numbers.select(self.select | column.select | self.upper)
        lower = numbers.select(self.select | column.select | self.lower)
        found: dict[tuple[str, ...], list[float]] = {}
        for a, b in self._pairs(upper, lower):
            if b.value and (a.value or column.by == "value"):
                row = tuple(self._head(name, a, b, numbers) for name in self.heads.values())
                found.setdefault(row, []).append(a.value / b.value)
        return found

    def _pairs(self, upper: list[Number], lower: list[Number]) -> Iterator[tuple[Number, Number]]:
        if not self.renamed:
            yield from counterparts(upper, lower, {*self.lower})
            return
        by_cell = {(each.format, *each.without(("format",))): each for each in lower}
        for each in upper:
            name = self._lower_name(each.format)
            other = by_cell.get((name, *each.without(("format",))))
            if other is not None and other is not each:
                yield each, other

    def _lower_name(self, label: str) -> str:
        for pattern, other in self.renamed.items():
            label, number = re.subn(pattern, other, label)
            if number:
                break
        return label

    def _head(self, name: str, one: Number, other: Number, numbers: Numbers) -> str:
        match name:
            case "place":
                return numbers.place(one)
            case "pair":
                return f"{one.format} / {other.format}"
            case "rows":
                return f"{one.rows:,}"
            case _:
                return str(getattr(one, name))


def _summary(ratios: Sequence[float], column: Column) -> str:
    if not ratios:
        return MISSING
    if column.by == "value":
        return format(ratios[0], column.show) if column.show else format_ratio(ratios[0])
    middle = median(ratios) if column.by == "median" else geometric_mean(ratios)
    texts = [f"{each:.3g}" for each in (middle, min(ratios), max(ratios))]
    same = column.by == "median" and texts[1] == texts[2]
    return texts[0] if same else "{} ({} to {})".format(*texts)


class Published(SectionBase, tag="published", kw_only=True):
    """Measured values beside the published ones: orders, ratios and the largest disagreements."""

    title: str = "Beside the published tables"
    measures: list[str] = []
    """Metrics with a table each; the orders of queries are compared if there are none."""
    absent: str = "The results have no value of a published cell."

    def blocks(self, context: Context) -> Iterator[Block]:
        """Yield tables of correlations and ratios, and a list of disagreements."""
        found = context.comparison
        if found is None:
            yield Block(self.title, self.absent)
            return
        sizes = sorted({(each.pair.dataset.rows_a, each.pair.dataset.rows_b) for each in found.ratios})
        extent = joined([f"{a:,} published and {b:,} here" for a, b in sizes]) if sizes else ""
        yield Block(self.title, _replaced(self.text, {"extent": extent or "different sizes"}))
        if self.measures:
            for metric in self.measures:
                yield from _ratios_of(found, metric)
            yield _moved(found, context.explanations)
        else:
            yield _query_orders(found)
            yield _moved_queries(found, context)


def _ratios_of(found: Comparison, metric: str) -> Iterator[Block]:
    ratios = [each for each in found.ratios if each.pair.measure.metric == metric]
    if not ratios:
        return
    agreement = next((each for each in found.agreements if each.measure.metric == metric), None)
    text = ""
    if agreement and agreement.spearman is not None and agreement.kendall_tau_b is not None:
        text = (
            f"Order of {plural(agreement.cells, 'configuration')}: Spearman {agreement.spearman:.2f}, "
            f"Kendall's tau-b {agreement.kendall_tau_b:.2f}."
        )
    rows = []
    for each in sorted(ratios, key=lambda each: each.pair.a.value or 0):
        a, b = each.pair.a, each.pair.b
        texts = [quantity(value, a.unit) for value in (a.value or 0, b.value or 0)]
        rows.append(
            [
                str(each.pair.configuration),
                *texts,
                MISSING if each.value is None else f"{each.value:.3f}",
            ]
        )
    yield Block(
        metric.capitalize(), text, ["store", "published", "here", "here / published"], rows, level=3
    )


def _moved(found: Comparison, explanations: dict[str, str]) -> Block:
    items = [
        f"**{each.configuration}, {each.measure.metric}**: number {each.rank_a:g} of {each.formats} "
        f"published, {each.rank_b:g} here. "
        f"{explanations.get(f'{each.configuration.format}, {each.measure.metric}', '')}".rstrip()
        for each in found.disagreements
    ]
    text = "" if items else "No place differs by two or more."
    return Block("Disagreements", text, items=items, level=3)


def _query_orders(found: Comparison) -> Block:
    rows = [
        [
            each.measure.metric,
            each.configuration.format if each.configuration else "**all stacks**",
            str(each.cells),
            *(MISSING if number is None else f"{number:.2f}" for number in each[-2:]),
        ]
        for each in found.query_agreements
    ]
    orders: dict[str, list[float]] = {}
    stacks: dict[str, int] = {}
    for each in found.agreements:
        if each.measure.query and each.dataset and each.spearman is not None:
            orders.setdefault(each.measure.metric, []).append(each.spearman)
            stacks[each.measure.metric] = max(stacks.get(each.measure.metric, 0), each.cells)
    items = [
        f"Order of {stacks[metric]} stacks by {metric}: Spearman {median(values):.2f} in the median of "
        f"{len(values)} queries, from {min(values):.2f} to {max(values):.2f}."
        for metric, values in orders.items()
    ]
    header = ["rank correlation of", "stack", "cells", "Spearman", "Kendall tau-b"]
    return Block(header=header, rows=rows, alignment="llrrr", items=items)


_LARGEST = 3


def _moved_queries(found: Comparison, context: Context) -> Block:
    """Return the kinds of queries in which a stack's place differs most, with the known reasons."""
    names = query_names(context.numbers.suite.name)
    kinds: dict[tuple[str, str, str], list[tuple[float, float]]] = {}
    for each in found.query_disagreements:
        measure = each.pair.measure
        heading = names[measure.query].heading if measure.query in names else measure.query
        key = each.pair.configuration.format, measure.metric, heading
        kinds.setdefault(key, []).append((math.log(each.relative_a), math.log(each.relative_b)))
    means = {key: (fmean(a for a, _ in each), fmean(b for _, b in each)) for key, each in kinds.items()}
    largest = sorted(means, key=lambda key: -abs(means[key][1] - means[key][0]))[:_LARGEST]
    items = []
    for key in largest:
        a, b = (format_ratio(math.exp(each)) for each in means[key])
        cells = plural(len(kinds[key]), "cell")
        items.append(f"**{', '.join(key)}**: {a} times the mean published, {b} times here ({cells}).")
    labels = dict.fromkeys(label for label, *_ in largest)
    items += [f"{each}: {context.explanations[each]}" for each in labels if each in context.explanations]
    if not items:
        return Block()
    text = "Places are relative to the geometric mean of the common stacks in each query."
    return Block("Largest disagreements", text, items=items, level=3)


class Ranking(SectionBase, tag="ranking", kw_only=True):
    """Geometric means of the ratios to the best of each query, a column for each table of queries."""

    title: str = "Ranking"
    metric: str

    def blocks(self, context: Context) -> Iterator[Block]:
        """Yield the table."""
        tables = [
            table
            for group in context.numbers.suite.groups
            for table in query_tables(group)
            if table.measure.metric == self.metric
        ]
        stacks = sorted({row.format for each in tables for row in each.ranked}, key=str.casefold)
        rows = [[stack, *(_mean_of(stack, table) for table in tables)] for stack in stacks]
        yield Block(self.title, self.text, ["stack", *map(_column_name, tables)], rows)


def _column_name(table: QueryTable) -> str:
    return ", ".join(filter(None, [table.group.name, table.track, table.measure.cache or ""]))


def _mean_of(stack: str, table: QueryTable) -> str:
    row = next((each for each in table.means if each.format == stack), None)
    if row is None:
        return MISSING
    text = format_ratio(table.means[row].value)
    if table.complete[:1] == [row]:
        return f"**{text}**"
    return text if row in table.complete else f"({text})"


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
        rows = [[", ".join(labels), *others] for others, labels in stores.items()]
        header = [self.first, "data sets", "cells", "status", "reason"]
        text = self.text if rows else f"{self.text} Every cell has a value.".strip()
        yield Block(self.title, text, header, rows, "lllll", fold=True)


Section = Text | Made | Extent | Values | Ratios | Published | Ranking | LeftOut
