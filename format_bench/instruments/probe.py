"""Probe of a medium: latency of random reads, rate of sequential reads, time of a sync to the device."""

from __future__ import annotations

import errno
import mmap
import os
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from adapter_core.errors import InvalidFolderError

# Written in a second by a hard disk; random reads rarely meet one place twice.
FILE_BYTES = 64 << 20
# The page of the kernel's cache, the least that direct reads may ask of most devices.
BLOCK_BYTES = 4096
# Larger requests are divided by the kernel (max_sectors_kb of the device, 1,280 by default).
CHUNK_BYTES = 1 << 20
# Enough for a 95th percentile, and few enough for a hard disk of 10 ms a read.
MOST_READS = 2000
# Below 20 there is no 95th percentile but the largest.
FEWEST_READS = 20
# Each takes a hard disk some revolutions of 8 ms.
SYNCS = 10

# Wall time of random reads, and of sequential ones, after which none starts. Writing the file, and ten
# syncs, come on top.
TURN_SECONDS = 0.8


@dataclass(frozen=True)
class Probe:
    """Figures of a medium, measured without the page cache (O_DIRECT), one request at a time."""

    random_read_seconds: float
    """Median time of a read of 4 KiB at a random place of a file of 64 MiB."""
    random_read_p95_seconds: float
    random_reads: int
    """Number of reads behind both."""
    sequential_bytes_per_second: float
    """Of reads of 1 MiB in order, by their median time."""
    sync_seconds: float
    """Median time of fsync after 4 KiB were written."""

    def __str__(self) -> str:
        """Return the figures on one line."""
        return (
            f"random 4 KiB {_milliseconds(self.random_read_seconds)} "
            f"(95 %: {_milliseconds(self.random_read_p95_seconds)}), "
            f"sequential {self.sequential_bytes_per_second / 1e6:,.0f} MB/s, "
            f"fsync {_milliseconds(self.sync_seconds)}"
        )


def measure(folder: Path) -> Probe:
    """Measure the medium of a folder in about two seconds; its file is removed.

    Raises
    ------
    InvalidFolderError
        If the file system does not take direct reads, or has no room for 64 MiB.
    """
    try:
        with _file_in(folder) as path:
            synced = list(_syncs(path))
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECT)
            try:
                read = _random_reads(descriptor)
                rate = _sequential_rate(descriptor)
            finally:
                os.close(descriptor)
    except OSError as error:
        if error.errno == errno.EINVAL:
            raise InvalidFolderError(
                f"{folder}: its file system takes no direct reads (O_DIRECT)"
            ) from error
        raise InvalidFolderError(f"{folder}: the medium cannot be measured: {error.strerror}") from error
    quantile = read[min(len(read) - 1, round(0.95 * len(read)))]
    return Probe(statistics.median(read), quantile, len(read), rate, statistics.median(synced))


@contextmanager
def _file_in(folder: Path) -> Iterator[Path]:
    """Give a file of random bytes on the device, since some media compress zeros away."""
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".format-bench-probe-") as file:
        block = os.urandom(CHUNK_BYTES)
        for number in range(FILE_BYTES // CHUNK_BYTES):
            # Different in each, for file systems that find duplicates.
            file.write(number.to_bytes(8, "little") + block[8:])
        file.flush()
        os.fsync(file.fileno())
        yield Path(file.name)


def _random_reads(descriptor: int) -> list[float]:
    """Return the sorted durations of random reads."""
    draw = random.Random(0)  # noqa: S311 (places in a file)
    # A memory map is aligned to pages, as direct reads need.
    with mmap.mmap(-1, BLOCK_BYTES) as buffer:
        taken: list[float] = []
        end = time.perf_counter() + TURN_SECONDS
        while len(taken) < MOST_READS and (len(taken) < FEWEST_READS or time.perf_counter() < end):
            place = draw.randrange(FILE_BYTES // BLOCK_BYTES) * BLOCK_BYTES
            start = time.perf_counter()
            os.preadv(descriptor, [buffer], place)
            taken.append(time.perf_counter() - start)
    return sorted(taken)


def _sequential_rate(descriptor: int) -> float:
    """Return the bytes per second of the median read in order."""
    taken: list[float] = []
    with mmap.mmap(-1, CHUNK_BYTES) as buffer:
        # The first read moves the head there.
        os.preadv(descriptor, [buffer], 0)
        for place in range(CHUNK_BYTES, FILE_BYTES, CHUNK_BYTES):
            start = time.perf_counter()
            os.preadv(descriptor, [buffer], place)
            taken.append(time.perf_counter() - start)
            if sum(taken) > TURN_SECONDS:
                break
    # Without pauses that other programs cause on a busy machine.
    return CHUNK_BYTES / statistics.median(taken)


def _syncs(path: Path) -> Iterator[float]:
    """Yield the durations of fsync."""
    descriptor = os.open(path, os.O_WRONLY)
    try:
        for number in range(SYNCS):
            os.pwrite(descriptor, os.urandom(BLOCK_BYTES), number * CHUNK_BYTES)
            start = time.perf_counter()
            os.fsync(descriptor)
            yield time.perf_counter() - start
    finally:
        os.close(descriptor)


def _milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.3g} ms"
