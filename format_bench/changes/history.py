"""Reads the history of all results from asv's files and the library sets in git."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from adapter_core.listing import declarations

# One reading of asv's files for all that is made of them.
from format_bench.asv_support.results import NoResults, run_of
from format_bench.changes.library_versions import library_versions
from format_bench.changes.points import FOLDERS, HARDWARE, History, Line, Point

__all__ = ["History", "Line", "Point", "read_history"]


def read_history(results_dir: Path, repository: Path) -> History:
    """Return the history in a folder of asv's results.

    Parameters
    ----------
    results_dir : Path
        The folder, with `benchmarks.json`. Results of other versions of the benchmarks are left out.
    repository : Path
        The checkout: its git history has the library set of each commit, its folders have the adapters.

    Raises
    ------
    NoResults
        If there is no result in the folder.
    """
    from asv.benchmarks import Benchmarks
    from asv.results import iter_results
    from asv.util import load_json

    path = results_dir / "benchmarks.json"
    results = list(iter_results(str(results_dir))) if path.is_file() else []
    if not results:
        raise NoResults(f"{results_dir} holds no results of asv; run `make bench`, or `asv run`")
    benchmarks = load_json(str(path), api_version=Benchmarks.api_version)
    by_line: dict[tuple[str, ...], list[Any]] = {}
    for result in sorted(results, key=lambda each: (each.date, each.commit_hash)):
        facts = (*(result.params.get(name, "") for name in HARDWARE), result.env_name)
        by_line.setdefault(facts, []).append(result)
    versions = library_versions(results, results_dir, repository)
    twice = frozenset(name for name, each in benchmarks.items() if each.get("rounds", 1) > 1)
    lines = [
        Line(
            dict(zip(HARDWARE, facts, strict=False)),
            facts[-1],
            [
                Point(
                    name,
                    _date(result),
                    versions[result.commit_hash],
                    result.params.get("os", ""),
                    run_of(result, benchmarks, results_dir),
                    twice,
                )
                for name, result in zip(_names(found), found, strict=True)
            ],
        )
        for facts, found in by_line.items()
    ]
    lines.sort(key=lambda line: line.points[-1].date, reverse=True)
    return History(lines, _requires(repository))


def _date(result: Any) -> datetime:
    return datetime.fromtimestamp(result.date / 1000, UTC)


def _names(results: list[Any]) -> list[str]:
    """Return a name for each result: its month, or what else tells it from others of that month."""
    dates = [_date(result) for result in results]
    names = [f"{date:%Y-%m}" for date in dates]
    for finer in ("{:%Y-%m-%d}", "{:%Y-%m-%d %H:%M}"):
        often = Counter(names)
        names = [
            finer.format(date) if often[name] > 1 else name
            for name, date in zip(names, dates, strict=True)
        ]
    return names


def _requires(repository: Path) -> dict[tuple[str, str], tuple[str, ...]]:
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    return {
        (folder, each.label): tuple(canonicalize_name(Requirement(text).name) for text in each.requires)
        for folder in ("data_formats", *FOLDERS.values())
        for each in declarations(repository / folder)
    }
