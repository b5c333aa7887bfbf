"""Files of saved data, for the conformance tests of damage."""

from __future__ import annotations

from pathlib import Path

from format_bench.instruments.page_cache import files_of


def largest_file(path: Path) -> Path:
    """Return the largest file of saved data, which may be one file."""
    return max(files_of(path), key=lambda each: each.stat().st_size)
