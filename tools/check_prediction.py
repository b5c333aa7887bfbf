"""Check of predictions: ``python -m tools.check_prediction RESULTS...``.

Each measured table is left out in turn and predicted from tables of other origins, by
`format_bench.prediction`: a table would be easy to predict from its twin, or from more of its rows.
Beside it two baselines: one table for all (the values of the middle one, in proportion to the cells),
and the geometric mean of all other tables. Prints, as Markdown, the median and the 90th percentile of
the errors by metric, as factors; how often the named winner is the measured one, or ties with it; how
many times the best its measured score is; and how many formats one tries in the predicted order until a
winner comes, beside the order of a race that has no earlier results, and of one that has these tables.

``python -m tools.prediction_tables`` makes tables to measure. Constants of the method are chosen with
``--half 1``, so that ``--half 2`` has tables that they were not chosen by.
"""

from __future__ import annotations

import argparse
import math
import re
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
from format_bench.prediction.predicted import FAMILY, MeasuredTable, MeasuredTables, Predictor
from format_bench.racing.promise import NUMBERS, TEXT, Promise, logs_of, typical
from format_bench.recommendation import recommend
from format_bench.recommendation.purposes import BALANCED
from format_bench.recommendation.scoring import SIZE, Weights
from format_bench.results.candidates import Configuration
from format_bench.results.display.markdown import table_lines
from format_bench.results.load import Results
from format_bench.results.metrics import METRICS, Measure
from tools.prediction_tables import TWIN

if TYPE_CHECKING:
    from format_bench.results.records import Record

UNITS = {"seconds", "bytes"}

WEIGHTS = {
    "time": BALANCED.weights,
    "CPU time": dict.fromkeys((Measure("save CPU time"), Measure("read CPU time"), SIZE), 1.0),
}
"""What winners are judged by: on a busy machine CPU time repeats better."""

Others = Sequence[MeasuredTable]
Method = Callable[[Others, MeasuredTable], list["Record"]]


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


PREDICTORS: dict[str, Method] = {
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
            without = {key: [] for key in ("repeats", "round_sizes", "cpu_repeats", "loop_repeats")}
            yield replace(record, value=value, interval=None, dataset=table.name, **without)


class Errors:
    """Errors of a predictor over left-out tables."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self.logs: defaultdict[Measure, list[float]] = defaultdict(list)
        self.winners: list[bool] = []
        self.scores: list[float] = []
        """Measured scores of the named winners, as multiples of the best."""
        self.tried: list[int] = []
        """Formats in the predicted order up to the first winner."""

    def add(self, table: MeasuredTable, predicted: Sequence[Record]) -> None:
        """Compare the records of a table with predicted ones."""
        for each in predicted:
            measure = Measure.of(each).comparable
            there = table.cells.get((Configuration.of(each), measure))
            if there is not None and _grows(there) and _grows(each) and there.value and each.value:
                self.logs[measure].append(abs(math.log(each.value / there.value)))
        try:
            named = recommend(Results("predicted", list(predicted), []), self.weights)
        except FormatBenchError:
            return
        self.rank(table, [each.candidate.configuration for each in named.ranked])

    def rank(self, table: MeasuredTable, order: Sequence[Configuration]) -> None:
        """Compare an order of formats, best first, with the measured one."""
        try:
            measured = recommend(Results("measured", [*table.cells.values()], []), self.weights)
        except FormatBenchError:
            return
        winners = {each.candidate.configuration for each in (measured.first, *measured.ties)}
        scores = {each.candidate.configuration: each.score for each in measured.ranked}
        possible = [each for each in order if each in scores]
        self.winners.append(possible[0] in winners)
        self.scores.append(scores[possible[0]] / measured.first.score)
        self.tried.append(1 + next(n for n, each in enumerate(possible) if each in winners))


def order_of_race(table: MeasuredTable, predicted: Sequence[Record] = ()) -> list[Configuration]:
    """Return the order in which a race tries the formats of a table, without or with a prediction."""
    texts = table.profile.features["texts"] + table.profile.features["categories"]
    known = typical(FAMILY.name)
    sources = [(texts, known[TEXT]), (1 - texts, known[NUMBERS])]
    promise = Promise(BALANCED.weights, sources, logs_of(predicted))
    return sorted(dict.fromkeys(each for each, _ in table.cells), key=promise.of)


SHIPPED, PREDICTED = "order of a race", "order of a race with these tables"


def origin_of(name: str) -> str:
    """Return the origin of a table, which a twin and another number of rows share."""
    dataset = name.rpartition(": ")[2].partition(", ")[0]
    return re.sub(r"-\d+$", "", dataset.removeprefix(TWIN))


def checked(tables: Others, weights: Weights = BALANCED.weights) -> dict[str, Errors]:
    """Return the errors of each predictor, each table left out once."""
    found = {name: Errors(weights) for name in (*PREDICTORS, SHIPPED, PREDICTED)}
    for table in tables:
        others = [each for each in tables if origin_of(each.name) != origin_of(table.name)]
        predicted = {name: predictor(others, table) for name, predictor in PREDICTORS.items()}
        for name, records in predicted.items():
            found[name].add(table, records)
        found[SHIPPED].rank(table, order_of_race(table))
        found[PREDICTED].rank(table, order_of_race(table, predicted["profile"]))
    return found


def rows_of(found: dict[str, Errors]) -> Iterator[list[str]]:
    """Yield a row for each metric, and the last of the winners."""
    measures = list(dict.fromkeys(each for errors in found.values() for each in errors.logs))
    for measure in sorted(measures, key=lambda each: list(METRICS).index(each.metric)):
        logs = [errors.logs[measure] for errors in found.values()]
        yield [measure.phrase, *(_ends([math.exp(log) for log in each]) for each in logs)]
    yield ["score of the named one, times the best", *(_ends(each.scores) for each in found.values())]
    yield ["formats tried until a winner comes", *(_ends(each.tried) for each in found.values())]
    winners = (f"{sum(each.winners)} of {len(each.winners)}" for each in found.values())
    yield ["winner or a tie named", *winners]


def _ends(values: Sequence[float]) -> str:
    """Return the median and the 90th percentile."""
    return ", ".join(f"{np.quantile(values, each):.2f}" for each in (0.5, 0.9)) if values else "-"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("results", nargs="+", help="Folders of results, or bundles.")
    parser.add_argument("--weigh", choices=WEIGHTS, default="time", help="What winners are judged by.")
    parser.add_argument("--half", type=int, choices=(1, 2), help="Take every other table alone.")
    options = parser.parse_args()
    found = MeasuredTables.of([load_source(each) for each in options.results])
    for sentence in found.left_out:
        print(f"left out: {sentence}", file=sys.stderr)
    # By name, in which tables of one origin are neighbours.
    tables = sorted(found.tables, key=lambda each: each.name)
    if options.half:
        tables = tables[options.half - 1 :: 2]
    if len(tables) <= FEWEST_TABLES:
        sys.exit(f"{len(tables)} tables are too few: one is left out, and {FEWEST_TABLES} are needed")
    errors = checked(tables, WEIGHTS[options.weigh])
    print(f"{len(tables)} tables, each left out once; errors as factors: median, 90th percentile\n")
    print(*table_lines(["metric", *errors], [*rows_of(errors)]), sep="\n")


if __name__ == "__main__":
    main()
