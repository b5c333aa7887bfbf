"""Map of reads: the bytes of a file that a call reads, in their order and by request."""

from __future__ import annotations

from format_bench.instruments.read_map.reads import Method, ReadMap
from format_bench.instruments.read_map.recording import reads_of, reason_against_exact

__all__ = ["Method", "ReadMap", "reads_of", "reason_against_exact"]
