"""What is named of a regression that is really measured: ``python -m tools.check_regression_detection``.

Of six months of library sets, the third has a new version of a toy library, which reads slower (see
`factories.measured_histories`). Printed is the page on changes; then, of twenty histories in which
the library stays the same, how many changes are named though there are none.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from format_bench.changes.sentences import sentence
from tests.factories.measured_histories import planted, unchanged


def main() -> None:
    """Print what is named of what is planted, and of histories with nothing planted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20, help="Histories with nothing planted.")
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        changes = planted(Path(folder, "planted")).changes
    print("planted:", *map(sentence, changes or ()), sep="\n  ", flush=True)
    named = 0
    for number in range(1, runs + 1):
        with tempfile.TemporaryDirectory() as folder:
            changes = unchanged(Path(folder, "unchanged")).changes
        named += len(changes)
        print(f"history {number}: {len(changes)} named", *map(sentence, changes), sep="\n  ", flush=True)
    print(f"{named} changes named in {runs} histories with none")


if __name__ == "__main__":
    main()
