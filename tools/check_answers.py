"""Check of answers of the race: ``python -m tools.check_answers FILE... --out FOLDER``.

For each table, `format-bench recommend --data` answers within its time budget. Then every candidate of
that race is measured on all rows, in two rounds, and `recommend` ranks them by the same weights. The
answer is right if it wins the exhaustive ranking, or ties with the winner. Prints a Markdown table. An
interrupted check goes on from the results in FOLDER.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from format_bench.instruments import isolation
from format_bench.metadata.run_metadata import RunMetadataFiles
from format_bench.racing.entries import entries_of
from format_bench.racing.session import Measurer
from format_bench.results.candidates import Configuration
from format_bench.results.load import load
from format_bench.results.metrics import Measure
from format_bench.results.suites import FAMILIES
from format_bench.runner import folders
from format_bench.runner.user_data import Source, prepare
from format_bench.studies.declared.blocks import circumstances

ROUNDS = 2
"""Fresh processes in which each candidate is measured."""

LIMIT_SECONDS = 30.0
"""Wall time of a candidate in a round, after which it has no value."""

HEADER = [
    "table",
    "first answer",
    "last answer",
    "tried",
    "answer",
    "exhaustive winner",
    "place",
    "score",
]
"""The score is the answer's in the exhaustive ranking, relative to the winner's."""


class Checked(NamedTuple):
    """Answer of a race on a table, and its place in the exhaustive ranking."""

    row: list[str]
    right: bool


def called(*arguments: str | Path, folder: Path) -> dict[str, Any]:
    """Return the JSON that a command of format-bench prints.

    Raises
    ------
    SystemExit
        If the command fails, with its message.
    """
    command = [sys.executable, "-m", "format_bench", "--quiet", *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, arguments))}: {done.stderr.strip()}")
    found: dict[str, Any] = json.loads(done.stdout) if "--json" in arguments else {}
    return found


def raced(table: Path, out: Path, seconds: float, wish: list[str]) -> dict[str, Any]:
    """Race the formats on a table, or return the answer of an earlier call."""
    folder = out / table.stem
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "race.json"
    if not kept.exists():
        begin = time.monotonic()
        budget = ["--time-budget", f"{seconds:g}s"]
        answer = called("recommend", "--data", table, *budget, *wish, "--json", folder=folder)
        kept.write_text(
            json.dumps(answer | {"wall_seconds": time.monotonic() - begin}), encoding="utf-8"
        )
    found: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8"))
    return found


def check(table: Path, out: Path, answer: dict[str, Any], wish: list[str]) -> Checked:
    """Measure all candidates of a race, and compare their ranking with its answer."""
    folder = out / table.stem
    _measure_all(table, folder / "exhaustive", set(answer["weights"]))
    exhaustive = called("recommend", folder / "exhaustive", *wish, "--json", folder=folder)
    return _compared(table, answer, exhaustive)


def _measure_all(table: Path, out: Path, names: set[str]) -> None:
    """Measure each candidate of the race on all rows, in each round in a fresh process for a format."""
    with ExitStack() as stack:
        folder = stack.enter_context(folders.make(folders.check_scratch(None)))
        isolation.start_server()
        own = prepare(Source(str(table)), folder)
        cases = entries_of(FAMILIES["tables"], own.name, own.rows).by_configuration
        folders.open_results(out, fresh=False, fingerprints={own.name: own.fingerprint})
        stack.enter_context(folders.only_run(out))
        weights = dict.fromkeys(map(Measure.named, names), 1.0)
        measurer = Measurer(out, folder, own, cases, weights)
        files = RunMetadataFiles(out, measurer.run_id, folder, f"{own.rows} rows", {})
        stack.enter_context(files)
        tried = [(Configuration.of(each), each.rounds) for each in measurer.earlier()]
        for number in range(1, ROUNDS + 1):
            done = {entry for entry, rounds in tried if rounds >= number}
            for _ in measurer.measure_each(LIMIT_SECONDS, done):
                pass  # the records are on disk
            files.start("all", LIMIT_SECONDS)


def _compared(table: Path, answer: dict[str, Any], exhaustive: dict[str, Any]) -> Checked:
    race, ranking = answer["race"], exhaustive["ranked"]
    names = [each["name"] for each in ranking]
    place = names.index(answer["use"]) if answer["use"] in names else None
    found = None if place is None else ranking[place]
    tied = bool(found and (place == 0 or found["ties_with_first"]))
    row = [
        table.stem,
        f"{race['first_answer']['seconds']:.0f} s",
        f"{answer['wall_seconds']:.0f} s",
        f"{len(race['tried'])} of {race['candidates']}",
        answer["use"],
        names[0],
        "excluded"
        if place is None
        else f"{place + 1} of {len(names)}{' (tie)' if place and tied else ''}",
        "-" if found is None else f"{found['score'] / ranking[0]['score']:.2f}",
    ]
    return Checked(row, tied)


def main() -> None:
    """Check each table, and print the results as they come."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--seconds", type=float, default=60.0, help="time budget of each race")
    parser.add_argument("--preset")
    given = parser.parse_args()
    print(f"Load {os.getloadavg()[0]:.1f} at the start.\n")
    print(f"| {' | '.join(HEADER)} |\n|{' --- |' * len(HEADER)}", flush=True)
    right, metadata = 0, []
    tables, out = [each.resolve() for each in given.tables], given.out.resolve()
    wish = ["--preset", given.preset] if given.preset else []
    # All races before the rankings, which take much longer: an interrupted check has all answers.
    answers = [raced(each, out, given.seconds, wish) for each in tables]
    for table, answer in zip(tables, answers, strict=True):
        found = check(table, out, answer, wish)
        right += found.right
        metadata += load(out / table.stem / "exhaustive").metadata
        print(f"| {' | '.join(found.row)} |", flush=True)
    print(f"\nWinner or tie on {right} of {len(given.tables)} tables.\n\n{circumstances(metadata)}")


if __name__ == "__main__":
    main()
