"""Check of predictions: ``python -m tools.check_prediction RESULTS...``.

Each measured table is left out in turn and predicted from the others, by `format_bench.prediction`.
Beside it two baselines: one table for all (the values of the middle one, in proportion to the cells),
and the geometric mean of all other tables. Prints, as Markdown, the median and the 90th percentile of
the errors by metric, as factors, and how often the named winner is the measured one, or ties with it.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from adapter_core.errors import FormatBenchError
from format_bench.cli.options import load_source
from format_bench.prediction.model import FEWEST_TABLES
from format_bench.prediction.predicted import MeasuredTable, MeasuredTables, Predictor
from format_bench.recommendation import recommend
from format_bench.recommendation.purposes import BALANCED
from format_bench.results.candidates import Configuration
from format_bench.results.display.markdown import table_lines
from format_bench.results.load import Results
from format_bench.results.metrics import METRICS, Measure

if TYPE_CHECKING:
    from format_bench.results.records import Record

UNITS = {"seconds", "bytes"}

Others = Sequence[MeasuredTable]
Predictor = Callable[[Others, MeasuredTable], list["Record"]]


def by_profile(others: Others, table: MeasuredTable) -> list[Record]:
    """Return the records that the project predicts."""
    return Predictor(others).predict(table.profile, table.name).results.records


def by_one_table(others: Others, table: MeasuredTable) -> list[Record]:
    """Return the values of one table in proportion to the cells, or bytes, of another one.

    That table is the one whose sizes and times in proportion are the middle ones of all.
    """

    def typical(each: MeasuredTable) -> float:
        logs = [
            math.log(r.value / each.profile.extent(r.unit)) for r in each.cells.values() if _grows(r)
        ]
        return statistics.fmean(logs) if logs else math.inf

    order = sorted(others, key=typical)
    return [*_scaled([order[len(order) // 2]], table)]


def by_mean(others: Others, table: MeasuredTable) -> list[Record]:
    """Return the geometric mean over tables of the values in proportion."""
    return [*_scaled(others, table)]


PREDICTORS: dict[str, Predictor] = {
    "profile": by_profile,
    "one table for all": by_one_table,
    "mean of all tables": by_mean,
}


def _grows(record: Record) -> bool:
    return bool(record.value) and METRICS[record.metric].unit in UNITS


def _scaled(others: Others, table: MeasuredTable) -> Iterator[Record]:
    for cell, record in table.cells.items():
        found = [
            math.log(there.value / each.profile.extent(there.unit))
            for each in others
            if (there := each.cells.get(cell)) is not None and _grows(there) and there.value
        ]
        if found:
            value = math.exp(statistics.fmean(found)) * table.profile.extent(record.unit)
            yield replace(record, value=value, repeats=[], interval=None, dataset=table.name)


class Errors:
    """Errors of a predictor over left-out tables."""

    def __init__(self) -> None:
        self.logs: defaultdict[Measure, list[float]] = defaultdict(list)
        self.winners: list[bool] = []

    def add(self, table: MeasuredTable, predicted: Sequence[Record]) -> None:
        """Compare the records of a table with predicted ones."""
        for each in predicted:
            measure = Measure.of(each).comparable
            there = table.cells.get((Configuration.of(each), measure))
            if there is not None and _grows(there) and _grows(each) and there.value and each.value:
                self.logs[measure].append(abs(math.log(each.value / there.value)))
        try:
            measured = recommend(Results("measured", [*table.cells.values()], []), BALANCED.weights)
            named = recommend(Results("predicted", list(predicted), []), BALANCED.weights)
        except FormatBenchError:
            return
        winners = [measured.first, *measured.ties]
        self.winners.append(named.first.candidate.name in {each.candidate.name for each in winners})


def checked(tables: Others) -> dict[str, Errors]:
    """Return the errors of each predictor, each table left out once."""
    found = {name: Errors() for name in PREDICTORS}
    for number, table in enumerate(tables):
        others = [*tables[:number], *tables[number + 1 :]]
        for name, predictor in PREDICTORS.items():
            found[name].add(table, predictor(others, table))
    return found


def rows_of(found: dict[str, Errors]) -> Iterator[list[str]]:
    """Yield a row for each metric, and the last of the winners."""
    measures = list(dict.fromkeys(each for errors in found.values() for each in errors.logs))
    for measure in sorted(measures, key=lambda each: list(METRICS).index(each.metric)):
        cells = []
        for errors in found.values():
            logs = errors.logs[measure]
            ends = [np.exp(np.quantile(logs, each)) for each in (0.5, 0.9)] if logs else []
            cells.append(", ".join(f"{each:.2f}" for each in ends))
        yield [measure.phrase, *cells]
    winners = (f"{sum(each.winners)} of {len(each.winners)}" for each in found.values())
    yield ["winner or a tie named", *winners]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("results", nargs="+", help="Folders of results, or bundles.")
    sources = [load_source(each) for each in parser.parse_args().results]
    tables = MeasuredTables.of(sources)
    for sentence in tables.left_out:
        print(f"left out: {sentence}", file=sys.stderr)
    if len(tables.tables) <= FEWEST_TABLES:
        sys.exit(
            f"{len(tables.tables)} tables are too few: one is left out, and {FEWEST_TABLES} are needed"
        )
    found = checked(tables.tables)
    print(
        f"{len(tables.tables)} tables, each left out once; errors as factors: median, 90th percentile\n"
    )
    print(*table_lines(["metric", *found], [*rows_of(found)]), sep="\n")


if __name__ == "__main__":
    main()
