"""Map of the reads of a call, and the figures derived from it."""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

from adapter_core.files import write_atomically

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

READS = [("file", "<i4"), ("thread", "<u4"), ("offset", "<i8"), ("bytes", "<i8"), ("seconds", "<f8")]
"""Fields of a read: number of the file, thread, offset and length in bytes, seconds since the start."""


class Method(StrEnum):
    """Ways to find the bytes that a call reads."""

    EXACT = "exact"
    """Each request to a recording file system; reads through memory maps are pages of 4 KiB."""
    RESIDENCY = "residency"
    """Pages in the page cache after a cold call: an upper bound, since the kernel reads ahead."""


@dataclass(frozen=True)
class ReadMap:
    """Reads of a call from one file, or from the files of a directory laid end to end."""

    method: Method
    files: dict[str, int]
    """Bytes of each file by its relative path, in alphabetical order; a single file's is empty."""
    reads: np.ndarray
    """Reads in their order, dtype `READS`; by residency the runs of resident pages instead."""
    read_ahead_bytes: int | None = None
    """Read-ahead, which residency may exceed the reads by; None if unknown, or of no effect."""
    value: Any = None
    """Result of the call."""

    @property
    def file_bytes(self) -> int:
        """The size of all files."""
        return sum(self.files.values())

    @property
    def asked_bytes(self) -> int | None:
        """The bytes of all requests, repeats included; None by residency."""
        return int(self.reads["bytes"].sum()) if self._is_exact else None

    @property
    def distinct_bytes(self) -> int:
        """The bytes that were read at least once."""
        import numpy as np

        starts, times = self.coverage
        return int(np.diff(starts)[times[:-1] > 0].sum())

    @property
    def share(self) -> float:
        """The distinct bytes by the size of the files, from 0 to 1; 0 for empty files."""
        return self.distinct_bytes / self.file_bytes if self.file_bytes else 0.0

    @property
    def page_bytes(self) -> int:
        """The bytes of all pages with at least one byte that was read; the last page counts whole."""
        reads = self.reads.copy()
        ends = -(-(reads["offset"] + reads["bytes"]) // mmap.PAGESIZE) * mmap.PAGESIZE
        reads["offset"] -= reads["offset"] % mmap.PAGESIZE
        reads["bytes"] = ends - reads["offset"]
        # The last page of a file must not reach into the next file.
        files = {name: -(-size // mmap.PAGESIZE) * mmap.PAGESIZE for name, size in self.files.items()}
        return ReadMap(self.method, files, reads).distinct_bytes

    @property
    def requests(self) -> int | None:
        """The number of requests; None by residency."""
        return len(self.reads) if self._is_exact else None

    @property
    def median_request_bytes(self) -> float | None:
        """The median length of a request; None by residency, and without requests."""
        import numpy as np

        return float(np.median(self.reads["bytes"])) if self.requests else None

    @property
    def sequential_share(self) -> float | None:
        """Share of the requests that start where the last one to the same file ended.

        First requests to a file do not count; None if no others exist, and by residency.
        """
        import numpy as np

        if not self._is_exact:
            return None
        by_file = self.reads[np.argsort(self.reads["file"], kind="stable")]
        same_file = by_file["file"][1:] == by_file["file"][:-1]
        follows = by_file["offset"][1:] == (by_file["offset"] + by_file["bytes"])[:-1]
        return float(follows[same_file].mean()) if same_file.any() else None

    @property
    def files_read(self) -> int:
        """The number of files that were read at least once."""
        return len(set(self.reads["file"].tolist()))

    @cached_property
    def places(self) -> np.ndarray:
        """The first byte of each read in the files laid end to end, shape (reads,)."""
        import numpy as np

        sizes = np.fromiter(self.files.values(), np.int64, len(self.files))
        return (np.cumsum(sizes) - sizes)[self.reads["file"]] + self.reads["offset"]

    @cached_property
    def coverage(self) -> tuple[np.ndarray, np.ndarray]:
        """Places where the number of reads changes, ascending, and that number from each place on."""
        import numpy as np

        edges = np.concatenate([self.places, self.places + self.reads["bytes"]])
        steps = np.repeat([1, -1], len(self.reads))
        starts, inverse = np.unique(edges, return_inverse=True)
        changes = np.zeros(len(starts), np.int64)
        np.add.at(changes, inverse, steps)
        return starts, np.cumsum(changes)

    @cached_property
    def times_read(self) -> np.ndarray:
        """The mean number of times that the bytes of each read had been read by then, shape (reads,)."""
        import numpy as np

        edges, _ = self.coverage
        firsts = np.searchsorted(edges, self.places)
        ends = np.searchsorted(edges, self.places + self.reads["bytes"])
        lengths = np.diff(edges, append=0)
        times = np.zeros(len(edges), np.int64)
        sums = np.zeros(len(self.reads))
        for number, (first, end) in enumerate(zip(firsts.tolist(), ends.tolist(), strict=True)):
            times[first:end] += 1
            sums[number] = times[first:end] @ lengths[first:end]
        return sums / np.maximum(self.reads["bytes"], 1)

    def write(self, path: Path) -> None:
        """Write the map into a file of NumPy: its reads, its files and their sizes."""
        import numpy as np

        with write_atomically(path) as temporary, temporary.open("wb") as file:
            np.savez_compressed(
                file,
                reads=self.reads,
                files=np.array([*self.files], str),
                sizes=np.array([*self.files.values()], np.int64),
                method=np.array(self.method.value),
            )

    @classmethod
    def read(cls, path: Path) -> ReadMap:
        """Return the map in a file of `write`."""
        import numpy as np

        with np.load(path, allow_pickle=False) as found:
            files = dict(zip(found["files"].tolist(), found["sizes"].tolist(), strict=True))
            return cls(Method(str(found["method"])), files, found["reads"])

    @property
    def _is_exact(self) -> bool:
        return self.method is Method.EXACT
