"""Keeps quiet what a library in C++ writes to the standard error output by itself."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

STDERR = 2


@contextmanager
def silence() -> Iterator[None]:
    """Send to nowhere what the process writes to its standard error output, below Python as well."""
    sys.stderr.flush()
    kept = os.dup(STDERR)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, STDERR)
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, STDERR)
        os.close(kept)
        os.close(nowhere)
