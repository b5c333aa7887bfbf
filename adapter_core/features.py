"""Optional features of table formats, and refusals of the formats that lack them."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any

from adapter_core.errors import UnsupportedError


class Feature(StrEnum):
    """Optional features of table formats, each the value of one of the protocols."""

    COLUMNS = "column projection"
    """Reads only the requested columns, without building the others: `ColumnReads`."""
    ROWS = "row slices"
    """Reads a range of rows, with less work or less memory than for all rows: `RowReads`."""
    FILTER = "row filters"
    """Reads the rows that pass a predicate, with less work or memory than for all: `FilteredReads`."""
    BATCHES = "batched reads"
    """Reads batches of rows one after the other, in memory for some of them: `BatchedReads`."""
    REMOTE = "reader of files on servers"
    """Reads over a network: `RemoteTable` with `remote_schemes`."""
    REMOTE_SAVE = "writer to object stores"
    """Writes over a network: `RemoteTable` with `save_schemes`."""
    STREAMS = "streamed writes"
    """Writes batches of rows one after the other: `Streams`."""


PARTIAL_READS = frozenset({Feature.COLUMNS, Feature.ROWS, Feature.FILTER, Feature.BATCHES})
"""Features of a format whose library reads all kinds of parts: `PartialReads`."""

# Behaviour of a format without a feature; for `REMOTE_SAVE` the adapter gives its reason.
_INSTEAD = {
    Feature.COLUMNS: "it reads whole tables only",
    Feature.ROWS: "it reads all rows",
    Feature.FILTER: "it reads all rows",
    Feature.BATCHES: "it reads all rows at once",
    Feature.REMOTE: "it reads local files only",
    Feature.STREAMS: "it writes whole tables only",
}


def unsupported(adapter: Any, feature: Feature) -> UnsupportedError:
    """Return the error to raise for a feature that a format lacks."""
    instead = _INSTEAD.get(feature) or adapter.local_only
    return UnsupportedError(f"{adapter.label} has no {feature}: {instead}")


def lacking(feature: Feature) -> Callable[..., Any]:
    """Return a method of formats without a protocol, which raises `UnsupportedError`."""

    def refuse(self: Any, *_: object, **__: object) -> Any:
        raise unsupported(self, feature)

    refuse.__doc__ = f"Raise `UnsupportedError`: formats with {feature} override this."
    return refuse
