"""Sections that set results beside published ones, or rank stacks over queries."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import fmean, median

import msgspec

from format_bench.comparison import Comparison
from format_bench.report.queries import QueryTable, query_names, query_tables
from format_bench.results.display.text import format_ratio, joined, plural, quantity
from format_bench.studies.declared.blocks import MISSING, Block, Context, SectionBase, replaced


class Published(SectionBase, tag="published", kw_only=True):
    """Measured values beside the published ones: orders, ratios and the largest disagreements."""

    title: str = "Beside the published tables"
    measures: list[str] = msgspec.field(default_factory=list)
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
        yield Block(self.title, replaced(self.text, {"extent": extent or "different sizes"}))
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


_UNKNOWN = "The reason is not known."


def _moved(found: Comparison, explanations: dict[str, str]) -> Block:
    items = [
        f"**{each.configuration}, {each.measure.metric}**: number {each.rank_a:g} of {each.formats} "
        f"published, {each.rank_b:g} here. "
        f"{explanations.get(f'{each.configuration.format}, {each.measure.metric}', _UNKNOWN)}"
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
