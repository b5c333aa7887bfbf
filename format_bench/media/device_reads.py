"""Reads that a block device answers: requests and bytes, from /sys/class/block/<device>/stat.

https://docs.kernel.org/block/stat.html
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from format_bench.media.facts import MediumFacts

# Unit of the kernel's counters, whatever the device's own sectors are.
_SECTOR_BYTES = 512


@dataclass(frozen=True)
class DeviceReads:
    """Reads that a block device has completed, of all processes together."""

    requests: int
    read_bytes: int

    def __sub__(self, earlier: DeviceReads) -> DeviceReads:
        return DeviceReads(self.requests - earlier.requests, self.read_bytes - earlier.read_bytes)


def reads_of(device: str) -> DeviceReads:
    """Return the reads of a block device since it exists.

    Raises
    ------
    OSError
        If the device is unknown.
    """
    fields = Path(f"/sys/class/block/{device}/stat").read_text(encoding="ascii").split()
    return DeviceReads(int(fields[0]), int(fields[2]) * _SECTOR_BYTES)


class DeviceWatch:
    """Counts the reads of a folder's block device during each of its blocks.

    Parameters
    ----------
    folder : Path
        A folder on the device. Without a block device, e.g. on tmpfs, nothing is counted.
    """

    def __init__(self, folder: Path) -> None:
        facts = MediumFacts.of(folder)
        self.device, self.is_own = facts.block_device, facts.has_own_device
        self.counted: list[DeviceReads] = []
        """Reads of each block so far."""

    def __enter__(self) -> Self:
        if self.device:
            self._before = reads_of(self.device)
        return self

    def __exit__(self, *_: object) -> None:
        if self.device:
            self.counted.append(reads_of(self.device) - self._before)

    def __str__(self) -> str:
        """Return the median of all blocks in a sentence; empty if nothing was counted."""
        if not self.counted:
            return ""
        requests = statistics.median(each.requests for each in self.counted)
        megabytes = statistics.median(each.read_bytes for each in self.counted) / 1e6
        shared = "" if self.is_own else ", with reads of other programs on this disk"
        return f"the device {self.device} answered {requests:,.0f} reads of {megabytes:,.3g} MB{shared}"
