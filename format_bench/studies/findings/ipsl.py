"""Limit of Blosc's buffers, a finding of Gardoll's study that no suite measures."""

from __future__ import annotations


def refuses_large_buffers() -> tuple[bool, str]:
    """Try to compress a buffer of 2 GiB with Blosc; return whether it refuses, and its words."""
    import numcodecs
    import numpy as np

    values = np.zeros(2**31, np.uint8)
    try:
        numcodecs.Blosc("lz4", 1, 1).encode(values)
    except ValueError as error:
        return True, f"Blosc refuses 2 GiB: {error}"
    return False, "Blosc compresses a buffer of 2 GiB"
