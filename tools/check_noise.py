"""Whether an adapter that is 10 % slower is told from its twin: ``python -m tools.check_noise``.

The slower one burns a tenth of the CPU time that the other needs, measured just before.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import data_formats
import data_generator
from format_bench.instruments.clock import time_call
from format_bench.instruments.touch import touch
from format_bench.studies import noise

if TYPE_CHECKING:
    from adapter_core import DataFormat


TRIES, SAMPLES = 20, 200


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


def told_apart(first: DataFormat, second: DataFormat, path: Path) -> bool:
    """Tell whether reads by two adapters differ in CPU time, as measured in turn."""
    one, other = noise.in_turn(
        lambda: touch(first.read(path)), lambda: touch(second.read(path)), SAMPLES
    )
    return noise.differ([each.cpu_seconds for each in one], [each.cpu_seconds for each in other])


def main(labels: list[str]) -> None:
    """Print for each format in how many of 20 tries twins were told apart."""
    for label in labels:
        with tempfile.TemporaryDirectory() as folder:
            adapter = data_formats.get(label)
            path = Path(folder, f"table{adapter.suffix}")
            adapter.save(data_generator.table("eq", rows=100_000).df, path)
            twin = type(adapter)()
            apart = sum(told_apart(adapter, slower(adapter, path), path) for _ in range(TRIES))
            same = sum(told_apart(adapter, twin, path) for _ in range(TRIES))
        print(f"{label}: 10 % slower told apart in {apart} of {TRIES}, equal in {same} of {TRIES}")


if __name__ == "__main__":
    main(sys.argv[1:] or ["Feather", "Parquet", "Pickle", "CSV"])
