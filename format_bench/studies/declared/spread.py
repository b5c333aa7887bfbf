"""Sections on the spread of repeated measurements: medians of rounds, relative standard deviations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean, median, stdev

from format_bench.results.candidates import Configuration
from format_bench.results.display.text import plural, quantity
from format_bench.results.load import suite_of
from format_bench.results.metrics import Measure
from format_bench.results.records import Record
from format_bench.studies.declared.blocks import MISSING, Block, Context, SectionBase

FEWEST = 3
"""Samples of which a standard deviation is shown; the papers on arrays have three runs."""


class Rounds(SectionBase, tag="rounds", kw_only=True):
    """Medians of the rounds of each cell, with their spread."""

    def blocks(self, context: Context) -> Iterator[Block]:
        """Yield the table; a cell that lacks a round has the reason."""
        found = [each for each in context.results.records if each.suite == context.numbers.suite.name]
        most = max((len(each.round_sizes) for each in found), default=0)
        rows = []
        for record in found:
            medians = [median(each) for each in record.repeats_by_round]
            cell = [f"{Configuration.of(record)}", Measure(record.metric, record.cache).phrase]
            if len(medians) < most:
                rows.append([*cell, MISSING, MISSING, f"{record.status}: {record.sentence}"])
                continue
            first, *others = (quantity(each, record.unit) for each in (median(medians), *medians))
            rows.append([*cell, first, f"{spread(medians):.1%}", "  ".join(others)])
        header = ["cell", "metric", "median", "spread", "values"]
        yield Block(self.title, self.text, header, rows, "llrrl", fold=self.fold)


def spread(values: Sequence[float]) -> float:
    """Return the difference of the largest and the smallest value, relative to the median.

    It is 0 if all values are equal, also if they are 0.
    """
    difference = max(values) - min(values)
    return difference / median(values) if difference else 0.0


class Spread(SectionBase, tag="spread", kw_only=True):
    """Relative standard deviations of repeated times: how many are above a limit, and which."""

    title: str = "Spread"
    limit: float
    """Relative standard deviation from which the paper measured again."""

    def blocks(self, context: Context) -> Iterator[Block]:
        """Yield a sentence with the counts, and a folded table of the times above the limit."""
        times = [
            each
            for each in context.results.records
            if suite_of(each) == context.numbers.suite.name and each.unit == "seconds" and each.value
        ]
        found = {id(each): deviation for each in times if (deviation := _deviation(each)) is not None}
        if not found:
            few = f"No time here was measured {FEWEST} times or more, so that the spread is not known."
            yield Block(self.title, f"{self.text} {few}".strip())
            return
        wide = [each for each in times if found.get(id(each), 0.0) > self.limit]
        text = (
            f"Of {plural(len(found), 'time')} with {FEWEST} samples or more, the relative standard "
            f"deviation is {median(found.values()):.1%} in the median and {max(found.values()):.1%} at "
            f"most; of {len(wide)} it is above {self.limit:.0%}. A sample is the median of a round "
            "where there are as many rounds, else a call."
        )
        if unknown := len(times) - len(found):
            text += f" {plural(unknown, 'time')} with fewer samples have none."
        wide.sort(key=lambda each: -found[id(each)])
        rows = [
            [
                str(Configuration.of(each)),
                each.place,
                f"{each.rows:,}",
                Measure.of(each).phrase,
                quantity(each.value or 0.0, each.unit),
                str(len(_samples(each))),
                f"{found[id(each)]:.1%}",
            ]
            for each in wide
        ]
        header = ["cell", "data set", "rows", "time", "median", "samples", "deviation"]
        yield Block(self.title, f"{self.text} {text}".strip(), header, rows, "llrlrrr", fold=True)


def _samples(record: Record) -> Sequence[float]:
    """Return the medians of a record's rounds if there are enough, else its repeats."""
    rounds = [median(each) for each in record.repeats_by_round if each]
    return rounds if len(rounds) >= FEWEST else record.repeats


def _deviation(record: Record) -> float | None:
    """Return the standard deviation of a record's samples by their mean; None for too few."""
    samples = _samples(record)
    if len(samples) < FEWEST or not (mean := fmean(samples)):
        return None
    return stdev(samples) / mean
