"""CPU time of zarr-python per chunk: ``python tools/chunk_cost.py PYTHON PYTHON``.

Each interpreter has zarr of some version, 2 or 3. The first one writes a day of hourly maps of 721 x
1440 32-bit floats in 5,400 chunks of 1 x 50 x 100 values, with LZ4 at level 6, in Zarr format 2, which
both read; so does TensorStore, where it is installed. All read the same file from the page cache, in
turn, in fresh processes; of each process the fastest of some reads counts. Prints the median CPU time
(user and system) of a chunk over the processes, and the ratios to the first. docs/history.md shows how
to make the environments.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

SHAPE, CHUNKS = (24, 721, 1440), (1, 50, 100)
PROCESSES, READS = 5, 3


def write(path: str) -> None:
    """Write the array by the zarr of this process."""
    import numcodecs
    import numpy as np
    import zarr

    codec = numcodecs.Blosc("lz4", 6, numcodecs.Blosc.SHUFFLE)
    facts: dict[str, Any] = {"shape": SHAPE, "chunks": CHUNKS, "dtype": "f4"}
    if zarr.__version__.startswith("2."):
        array = zarr.open(path, mode="w", compressor=codec, **facts)
    else:
        array = zarr.create_array(path, zarr_format=2, compressors=codec, overwrite=True, **facts)
    values = np.random.default_rng(0).normal(280, 10, SHAPE)
    array[...] = values.round(1)


def cost(read: Any) -> float:
    """Return the least CPU seconds of a few calls, per chunk."""
    found = []
    for _ in range(READS):
        before = time.process_time()
        read()
        found.append(time.process_time() - before)
    number = 1
    for edge, chunk in zip(SHAPE, CHUNKS, strict=True):
        number *= -(-edge // chunk)
    return min(found) / number


def measure(path: str) -> dict[str, float]:
    """Return the seconds per chunk by library, of those that this process can import."""
    import zarr

    array = zarr.open(path, mode="r")
    found = {f"zarr-python {zarr.__version__}": cost(lambda: array[...])}
    try:
        import tensorstore
    except ImportError:
        return found
    spec = {"driver": "zarr", "kvstore": {"driver": "file", "path": path}}
    opened = tensorstore.open(spec, read=True).result()
    return found | {"TensorStore": cost(lambda: opened.read().result())}


def main() -> None:
    """Measure in each interpreter in turn, and print the costs."""
    interpreters = sys.argv[1:]
    if len(interpreters) < 2:
        sys.exit("give at least two interpreters, e.g. old/bin/python new/bin/python")
    costs: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "array.zarr"))
        _call(interpreters[0], f"write({path!r})")
        for number in range(PROCESSES):
            for each in interpreters[:: 1 if number % 2 else -1]:
                found = json.loads(_call(each, f"print(json.dumps(measure({path!r})))"))
                for name, seconds in found.items():
                    costs.setdefault(name, []).append(seconds)
    medians = {name: statistics.median(costs[name]) for name in sorted(costs)}
    first = next(iter(medians.values()))
    for name, seconds in medians.items():
        print(f"{name:20} {seconds * 1e6:6.1f} µs a chunk, {seconds / first:.2f} times the first")


def _call(interpreter: str, statement: str) -> str:
    code = f"from chunk_cost import *; import json; {statement}"
    folder = Path(__file__).parent
    done = subprocess.run([interpreter, "-c", code], cwd=folder, stdout=subprocess.PIPE, check=True)
    return done.stdout.decode()


if __name__ == "__main__":
    main()
