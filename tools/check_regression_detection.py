"""Detection of a planted regression: ``python -m tools.check_regression_detection [--runs N]``.

Measures six months of library sets; in the third a fake library has a new version that reads more slowly
(see `tests.factories.measured_histories`). Prints the detected changes; then the false alarms in twenty
histories without a change.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from format_bench.changes.change import sentence
from tests.factories.measured_histories import planted, unchanged


def main() -> None:
    """Print the changes detected in a history with a planted one, and in histories without."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--runs", type=int, default=20, help="Histories without a change.")
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        changes = planted(Path(folder, "planted")).changes
    print("planted:", *map(sentence, changes or ()), sep="\n  ", flush=True)
    alarms = 0
    for number in range(1, runs + 1):
        with tempfile.TemporaryDirectory() as folder:
            changes = unchanged(Path(folder, "unchanged")).changes
        alarms += len(changes)
        print(
            f"history {number}: {len(changes)} changes", *map(sentence, changes), sep="\n  ", flush=True
        )
    print(f"{alarms} false alarms in {runs} histories without a change")


if __name__ == "__main__":
    main()
