"""Results of a run, wherever it was made, in the one form that reports and comparisons take."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.errors import InvalidResultsError
from format_bench.results import noise_floor, published, records
from format_bench.results.records import key

if TYPE_CHECKING:
    from format_bench.results.noise_floor import Floors
    from format_bench.results.records import Record


FILES = ("results.jsonl", "records.jsonl")
"""What a folder of results holds: the runner's own file, or what postprocessing makes of asv's."""

NOISE = "noise.json"


@dataclass(frozen=True)
class Results:
    """Records with what is known of the machine that they were made on."""

    name: str
    """What titles and columns call them: the folder's or the file's name."""
    records: list[Record]
    """Of each cell the last one written, in the order in which the cells were first written."""
    circumstances: list[dict[str, Any]]
    """Those of each run, oldest first; possibly none."""
    floors: Floors | None = None
    """By how much two equal measurements differ on that machine, if that was measured."""


def load(source: str | Path) -> Results:
    """Return the results in a folder or a file, or published ones.

    Parameters
    ----------
    source : str or Path
        A folder with results.jsonl (of `Runner`) or records.jsonl (of postprocessing.py), or such a
        file itself. Circumstances and noise floors are taken from beside it. Or text that is one of
        `published.names`; a file or a folder of that name comes first, since who has one means it.

    Raises
    ------
    InvalidResultsError
        If nothing is there, or something else; the message names the file and, if it can, the line.
    """
    if source in published.names() and not Path(source).exists():
        return Results(str(source), published.records(str(source)), circumstances=[])
    path = _file(Path(source))
    last = {key(record): record for record in records.read(path)}
    if not last:
        raise InvalidResultsError(f"{path} is empty: no cell has been measured")
    noise = path.parent / NOISE
    return Results(
        name=path.parent.resolve().name if path.name in FILES else path.stem,
        records=list(last.values()),
        circumstances=_circumstances(path.parent),
        floors=noise_floor.read(noise) if noise.exists() else None,
    )


def suite_of(record: Record) -> str:
    """Return "tabular", "compression" or "image": asv's suites name their class, too."""
    return record.suite.partition(".")[0]


def _file(source: Path) -> Path:
    if source.is_file():
        return source
    if not source.exists():
        raise InvalidResultsError(
            f"there are no results at {source}; `format-bench run --out {source}` makes them, and "
            f"published ones are: {', '.join(published.names())}"
        )
    for name in FILES:
        if (source / name).is_file():
            return source / name
    raise InvalidResultsError(f"{source} holds no results: there is neither {' nor '.join(FILES)} in it")


def _circumstances(folder: Path) -> list[dict[str, Any]]:
    """Return what is in the JSON files that tell when a run started, oldest run first."""
    found = []
    for path in folder.glob("*.json"):
        try:
            facts = json.loads(path.read_bytes())
        except ValueError:
            continue
        if isinstance(facts, dict) and "started" in facts:
            found.append(facts)
    return sorted(found, key=lambda facts: str(facts["started"]))


RESULTS = "results.jsonl"
