"""Published figures, to put beside one's own; each source is a module with tables beside it."""

from __future__ import annotations

from adapter_core import UnknownNameError
from format_bench.results.published import foxbench, qaware, thesis
from format_bench.results.records import Record

_SOURCES = {"thesis": thesis.records, "foxbench": foxbench.records, "qaware": qaware.records}


def names() -> list[str]:
    """Return the names of all sources."""
    return list(_SOURCES)


def records(name: str) -> list[Record]:
    """Return the figures of a source.

    Raises
    ------
    UnknownNameError
        If the source is unknown.
    """
    if name not in _SOURCES:
        raise UnknownNameError("published result", name, names())
    return _SOURCES[name]()
