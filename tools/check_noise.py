"""Sensitivity of the measurements to a slowdown of 10 %: ``python -m tools.check_noise [FORMAT...]``.

Compares an adapter with a twin that reads 10 % slower, and with an equal twin, 20 times each. The slower
twin burns a tenth of the CPU time that the adapter needs, measured just before. Two sets of CPU times
differ by the rank test of Mann and Whitney (Annals of Mathematical Statistics 18, 1947) with an error of
one in a thousand. By default for Feather, Parquet, Pickle and CSV.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import data_formats
import data_generator
from format_bench.instruments.clock import time_call
from format_bench.instruments.touch import touch

if TYPE_CHECKING:
    from collections.abc import Callable

    from adapter_core import DataFormat
    from format_bench.instruments.clock import Sample


TRIES, SAMPLES = 20, 200

SIGNIFICANCE = 0.001
"""Probability that equal calls are called different."""


def slower(adapter: DataFormat, path: Path) -> DataFormat:
    """Return a twin of an adapter that reads 10 % slower."""
    typical = sorted(time_call(lambda: touch(adapter.read(path))).cpu_seconds for _ in range(21))[10]

    class Slower(type(adapter)):  # type: ignore[misc] (a base that is known at run time)
        def _read(self, path, columns):
            df = super()._read(path, columns)
            end = time.thread_time() + 0.1 * typical
            while time.thread_time() < end:
                pass
            return df

    return Slower()


def interleaved(
    first: Callable[[], Any], second: Callable[[], Any], samples: int
) -> tuple[list[Sample], list[Sample]]:
    """Time two calls alternately, so that a machine that grows slower favours neither."""
    found: tuple[list[Sample], list[Sample]] = ([], [])
    calls = (first, second)
    for turn in range(samples):
        # The order alternates too: the first call of a pair may leave memory to the second.
        for place in (turn % 2, 1 - turn % 2):
            found[place].append(time_call(calls[place]))
    return found


def differ(first: list[Sample], second: list[Sample]) -> bool:
    """Return whether the CPU times of two calls differ by more than chance explains."""
    from scipy.stats import mannwhitneyu

    one, other = ([each.cpu_seconds for each in samples] for samples in (first, second))
    # The normal approximation is good for eight samples and more.
    return mannwhitneyu(one, other, method="asymptotic").pvalue < SIGNIFICANCE


def reads_differ(first: DataFormat, second: DataFormat, path: Path) -> bool:
    """Return whether reads by two adapters differ in CPU time."""
    samples = interleaved(lambda: touch(first.read(path)), lambda: touch(second.read(path)), SAMPLES)
    return differ(*samples)


def main() -> None:
    """Print for each format in how many of 20 tries its reads differed from its twins'."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    usual = ["Feather", "Parquet", "Pickle", "CSV"]
    parser.add_argument("labels", nargs="*", default=usual, metavar="FORMAT")
    for label in parser.parse_args().labels:
        with tempfile.TemporaryDirectory() as folder:
            adapter = data_formats.get(label)
            path = Path(folder, f"table{adapter.suffix}")
            adapter.save(data_generator.table("eq", rows=100_000).df, path)
            twin = type(adapter)()
            found = sum(reads_differ(adapter, slower(adapter, path), path) for _ in range(TRIES))
            wrong = sum(reads_differ(adapter, twin, path) for _ in range(TRIES))
        print(f"{label}: differs from a slower twin {found} times of {TRIES}, from an equal one {wrong}")


if __name__ == "__main__":
    main()
