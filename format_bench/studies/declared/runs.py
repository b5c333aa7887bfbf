"""Runs that measure the cells of a declared study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from adapter_core.errors import UnknownNameError
from format_bench.conditions import axes
from format_bench.families.cases import Case
from format_bench.instruments.clock import MIN_REPEATS
from format_bench.results.display.terminal import Output
from format_bench.results.load import Results, load
from format_bench.results.records import Key, key
from format_bench.results.suites import SUITES
from format_bench.runner import session
from format_bench.runner.media import Scratch, compared
from format_bench.runner.plan import RunRequest, on_media, plan, steps_of
from format_bench.runner.result_store import keys
from format_bench.runner.runner import Limits

BY = " by "
"""Between a pair and the adapter that writes its files, where that is not the format's usual one."""

# Cells that are numbers.
_NUMBERS = ("rows", "usual rows", "repeats")

Cells = Mapping[str, str | int | bool]
"""Options of ``format-bench run``; ``rounds``, and the ``seconds`` of a step's repeats in each."""


def measure(suite: str, every: Sequence[Cells], out: Path, shown: Output) -> Results:
    """Measure the cells that a folder of results lacks; return all of them.

    Parameters
    ----------
    suite : str
        Name of the suite of parts that name none themselves.
    every : sequence of dict
        The cells, in parts that differ in their options.
    out : Path
        The folder of results.
    shown : Output
        For progress.

    Raises
    ------
    UnknownNameError
        If a name is unknown; nothing has been measured.
    """
    runs = []
    for each in (own for cells in every for own in _by_writer(cells)):
        of_part = str(each.pop("suite", suite))
        if of_part not in SUITES:
            raise UnknownNameError("suite", of_part, SUITES)
        rounds = int(each.pop("rounds", 0))
        seconds = float(each.pop("seconds", session.BUDGET_SECONDS))
        # Divided among the rounds: each is as thorough as a run of its own.
        limits = Limits(rounds, rounds * MIN_REPEATS, rounds * seconds) if rounds else None
        request = _request(of_part, each, out)
        media = [each.name for each in compared(request.media)]
        cases = plan(request).cases
        runs.append((request, on_media(cases, media) if media else cases, limits))
    for request, _, limits in runs:
        session.measure(request, shown, on_own=_ignore, on_record=_ignore, limits=limits)
    results = load(out)
    wanted = [own for request, cases, _ in runs for own in _keys(request, cases)]
    places = {each: place for place, own in enumerate(wanted) for each in own}
    found = [each for each in results.records if key(each) in places]
    # In the order of the plan, so that codecs of a format are in the format's own.
    return replace(results, records=sorted(found, key=lambda each: places[key(each)]))


def _by_writer(cells: Cells) -> Iterator[dict[str, Any]]:
    """Yield the cells of each writer of files."""
    # The text of an option that was not given is empty.
    given = {name: value for name, value in cells.items() if value != ""}
    by_writer: dict[str, list[str]] = {}
    for label in str(given.get("formats", "")).split(","):
        pair, _, writer = label.partition(BY)
        by_writer.setdefault(writer, []).append(pair)
    for writer, pairs in by_writer.items():
        own = {"formats": ",".join(pairs), "writer": writer}
        yield given | {name: text for name, text in own.items() if text}


def _request(suite: str, cells: Cells, out: Path) -> RunRequest:
    given: dict[str, Any] = {}
    conditions = {}
    for name, value in cells.items():
        words, texts = name.replace("-", " "), tuple(str(value).split(","))
        if words in axes():
            conditions[words] = texts
        elif words in _NUMBERS:
            given[words.replace(" ", "_")] = int(value)
        elif words == "scratch":
            given[words] = Path(str(value))
        elif words == "media":
            given[words] = tuple(map(Scratch.parse, texts))
        else:
            given[words] = value if isinstance(value, bool) else texts
    return RunRequest(suite=suite, conditions=conditions, out=out, **given)


def _keys(request: RunRequest, cases: Sequence[Case]) -> Iterator[set[Key]]:
    """Yield the keys of the cells of each case and step."""
    wanted = steps_of(request, cases)
    yield from (keys(case, step) for case in cases for step in case.steps if step.name in wanted)


def _ignore(_: object) -> None:
    """Show nothing of it."""
