"""Files that declare more than fits in memory are refused before it is asked for."""

from __future__ import annotations

from pathlib import Path

from adapter_core.errors import InvalidDataError

MEMINFO = Path("/proc/meminfo")
"""https://docs.kernel.org/filesystems/proc.html#meminfo"""


def check_fits(path: Path, size_bytes: int) -> None:
    """Raise `InvalidDataError` if a file declares that it holds more bytes than are available.

    Linux grants more memory than there is, and kills the process that then uses it.
    """
    available = available_bytes()
    if available is not None and size_bytes > available:
        problem = (
            f"declares {size_bytes / 1e9:,.1f} GB, and {available / 1e9:,.1f} GB of memory are free"
        )
        raise InvalidDataError(path, problem, "take a part of it, or a larger machine")


def available_bytes() -> int | None:
    """Return how much memory can be had without swapping; None where that cannot be told."""
    if not MEMINFO.exists():
        return None
    for line in MEMINFO.read_text(encoding="ascii").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None
