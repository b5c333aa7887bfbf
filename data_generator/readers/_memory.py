"""Refusal of files whose declared size exceeds the available memory."""

from __future__ import annotations

from pathlib import Path

from adapter_core.errors import InvalidDataError

# https://docs.kernel.org/filesystems/proc.html#meminfo
MEMINFO = Path("/proc/meminfo")


def check_fits(path: Path, size_bytes: int) -> None:
    """Raise `InvalidDataError` if a file declares more bytes than the available memory."""
    # Linux grants more memory than there is, and kills the process that then uses it.
    available = available_bytes()
    if available is not None and size_bytes > available:
        problem = (
            f"declares {size_bytes / 1e9:,.1f} GB, and {available / 1e9:,.1f} GB of memory are free"
        )
        raise InvalidDataError(path, problem, "take a part of it, or a larger machine")


def available_bytes() -> int | None:
    """Return the memory available without swapping, in bytes; None on other systems than Linux."""
    if not MEMINFO.exists():
        return None
    for line in MEMINFO.read_text(encoding="ascii").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None
