"""Limits of the process that reads users' data, with defaults from the machine."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

# Parts of the available memory, and of the free space, that reading may take. The rest is for this
# process, and for others of the machine. Chosen, not measured.
MEMORY_SHARE, DISK_SHARE = 0.9, 0.9

# Long enough for the largest files, so that it ends readers that never end.
USUAL_SECONDS = 3600.0


@dataclass(frozen=True)
class DataLimits:
    """How much reading data may take; None for the default of the machine."""

    seconds: float = USUAL_SECONDS
    """Wall time."""
    memory_bytes: int | None = None
    """Private memory of the process."""
    disk_bytes: int | None = None
    """Size of all files that it leaves."""

    def resolved(self, folder: Path) -> tuple[int, int]:
        """Return the limits of memory and of disk in bytes, for files in a folder."""
        import psutil

        memory = self.memory_bytes or int(MEMORY_SHARE * psutil.virtual_memory().available)
        return memory, self.disk_bytes or int(DISK_SHARE * shutil.disk_usage(folder).free)


USUAL_LIMITS = DataLimits()
