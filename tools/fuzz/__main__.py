"""Command of fuzzing: ``python -m tools.fuzz --seconds 600``; see `tools.fuzz`."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterable
from itertools import count
from pathlib import Path

from tools.fuzz.oracle import Oracle, Result, trials
from tools.fuzz.readers import READERS, TARGETS

KEPT = 2
"""Files kept of findings that probably have one cause."""


def main() -> int:
    """Run trials, print findings and a table of outcomes, and return 1 if there are findings."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="python -m tools.fuzz", description=__doc__, formatter_class=raw
    )
    parser.add_argument("--seconds", type=float, default=600, help="Duration, shared by all readers.")
    parser.add_argument(
        "--reader", action="append", choices=list(TARGETS), help="Only this one; may be repeated."
    )
    parser.add_argument("--seed", type=int, help="Only this number, for each reader: repeats a finding.")
    parser.add_argument("--first", type=int, default=0, help="First seed number; 0 by default.")
    parser.add_argument(
        "--replay",
        type=Path,
        nargs="+",
        help="Files to read instead of changed ones, each alone in a folder.",
    )
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="Folder for the files of findings.")
    parser.add_argument("--figures", type=Path, metavar="FILE", help="JSON file to add the figures to.")
    options = parser.parse_args()
    names = options.reader or list(READERS)
    if options.replay:
        return replay(names, options.replay)
    figures: dict[str, Counter[str]] = {}
    for name in names:
        started = time.monotonic()
        numbers = count(options.first) if options.seed is None else range(options.seed, options.seed + 1)
        with Oracle(name) as oracle:
            figures[name] = fuzz(oracle, name, numbers, options.seconds / len(names), options.keep)
        figures[name]["seconds"] = round(time.monotonic() - started)
        print(f"{name}: {dict(figures[name])}", flush=True)
        if options.figures:
            add(options.figures, name, figures[name])
    return int(any(each["findings"] for each in figures.values()))


def fuzz(
    oracle: Oracle, name: str, numbers: Iterable[int], seconds: float, keep: Path | None
) -> Counter[str]:
    """Run trials of a reader, print each finding of a new cause, and return the numbers of outcomes."""
    counts: Counter[str] = Counter()
    causes: Counter[str] = Counter()
    for number, found, path in trials(oracle, name, numbers, seconds):
        counts["inputs"] += 1
        counts[found.outcome] += 1
        if not found.is_finding:
            continue
        counts["findings"] += 1
        causes[found.signature] += 1
        if causes[found.signature] <= KEPT:
            print_finding(name, number, found)
            if keep:
                kept = keep / name / f"{found.outcome.replace(' ', '_')}-{number}"
                shutil.rmtree(kept, ignore_errors=True)
                shutil.copytree(path.parent, kept, symlinks=True)
                print(f"    {kept / path.name}", flush=True)
    counts["causes"] = len(causes)
    return counts


def print_finding(name: str, number: int, found: Result) -> None:
    """Print a finding with the command that repeats it."""
    phrase = " ".join(found.phrase.split())[:300]
    print(
        f"{name}: {found.outcome}: {phrase}\n    python -m tools.fuzz --reader {name} --seed {number}",
        flush=True,
    )


def replay(names: list[str], paths: list[Path]) -> int:
    """Read files, print the outcome of each, and return 1 if one is a finding."""
    status = 0
    with Oracle(*names) as oracle:
        for name in names:
            for path in paths:
                found = oracle.result(name, oracle.put(path.absolute()))
                print(f"{path}: {found.outcome}: {' '.join(found.phrase.split())}", flush=True)
                status |= found.is_finding
    return int(status)


def add(path: Path, name: str, counts: Counter[str]) -> None:
    """Add figures of a reader to those in a file."""
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    known[name] = dict(Counter(known.get(name, {})) + counts)
    path.write_text(json.dumps(known, indent=1, sort_keys=True), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
