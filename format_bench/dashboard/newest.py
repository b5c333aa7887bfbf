"""The newest run of asv, as the reports take it, and where asv draws its cells over time."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from format_bench.asv_support.records import records_of
from format_bench.asv_support.run import Keeper
from format_bench.dashboard.graphs import Graphs
from format_bench.report.model import TITLES, outline_of
from format_bench.results.load import Results, family_of

if TYPE_CHECKING:
    from format_bench.asv_support.results import Run
    from format_bench.changes.history import History
    from format_bench.dashboard.source import Source
    from format_bench.report.model import Outline
    from format_bench.results.records import Record

_OF_THE_KEEPER = ("asv_commit", "time")
"""By which the circumstances of a run are found again; others say the same to people."""


@dataclass(frozen=True)
class Newest:
    """What the pages about the newest run are made of."""

    run: Run
    results: Results
    outline: Outline
    graphs: Graphs
    suites_missing: list[str]
    """The modules of suites that asv knows and this run has no result of."""


def newest(source: Source, history: History) -> Newest:
    """Return the run of the newest commit, which need not be the run that was made last.

    Earlier library sets may be measured after later ones.
    """
    run = history.lines[0].points[-1].run
    circumstances = Keeper(source.results_dir, run.environment).newest(run.commit)
    records = records_of(run, circumstances)
    in_order = sorted(records, key=_place)
    told = {name: fact for name, fact in circumstances.items() if name not in _OF_THE_KEEPER}
    results = Results(source.project, in_order, [told] if told else [], source.floors)
    benchmarks = json.loads((source.results_dir / "benchmarks.json").read_text(encoding="utf-8"))
    benchmarks.pop("version")
    return Newest(
        run=run,
        results=results,
        outline=outline_of(results),
        graphs=Graphs.of(run.cells, records, benchmarks),
        suites_missing=sorted(_modules(benchmarks) - _modules(cell.benchmark for cell in run.cells)),
    )


def _modules(benchmarks: Iterable[str]) -> set[str]:
    return {name.partition(".")[0] for name in benchmarks}


def _place(record: Record) -> int:
    """Return a sort key: tables come first, and what reports have no title for comes last."""
    family = family_of(record)
    return [*TITLES, family].index(family)
