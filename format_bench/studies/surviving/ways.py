"""Ways to change a saved file, by the library where it shall be, or under a temporary name.

Adapters write under a temporary name and rename the complete file (`BaseAdapter.replacing`). Here a
library also writes where the file shall be, as its users let it.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Any

from adapter_core import BaseAdapter, Changeable, Streams, TableChange
from adapter_core.appendable import Appendable
from format_bench.families.operations import Operations
from format_bench.instruments import page_cache

BATCHES = 10
"""Batches of a stream."""


class Change(StrEnum):
    """Kind of change of a file; the value is its name in results."""

    SAVE = "save"
    REPLACE = "replacement"
    STREAM = "stream"
    APPEND = "append"


class Renamed(StrEnum):
    """How a complete file comes to its name; the value is its name in results."""

    NOT = ""
    PLAIN = "renamed"
    SYNCED = "synced and renamed"


@dataclass(frozen=True)
class Way:
    """A change, and how the file comes to its name."""

    change: Change
    renamed: Renamed = Renamed.NOT

    @property
    def has_earlier(self) -> bool:
        """Whether there is an earlier version."""
        return self.change in {Change.REPLACE, Change.APPEND}

    def is_of(self, adapter: BaseAdapter) -> bool:
        """Return whether an adapter can do it."""
        if self.change is Change.STREAM:
            return isinstance(adapter, Streams)
        if self.change is not Change.APPEND:
            return True
        if isinstance(adapter, Changeable):
            return TableChange.APPEND not in adapter.unsupported_changes
        return isinstance(adapter, Appendable)

    def keeps_order(self, adapter: BaseAdapter) -> bool:
        """Return whether a reader returns the rows in the order in which they were given."""
        if self.change is Change.STREAM:
            return isinstance(adapter, Streams) and adapter.keeps_order_of_batches
        return self.change is not Change.APPEND or not isinstance(adapter, Changeable)


WAYS = (
    Way(Change.SAVE),
    Way(Change.REPLACE),
    Way(Change.REPLACE, Renamed.PLAIN),
    Way(Change.REPLACE, Renamed.SYNCED),
    Way(Change.STREAM),
    Way(Change.APPEND),
)


@dataclass(frozen=True)
class Versions:
    """Data before and after a change."""

    earlier: Any
    """The first half of the data set."""
    given: Any
    """The other half."""
    after: Any
    """Data that a reader returns of the changed file: the other half, or all of them if appended."""

    @classmethod
    def of(cls, operations: Operations, whole: Any, count: int, way: Way) -> Versions:
        """Return the versions in data of twice as many rows, or chunks, as `count`."""
        earlier, given = (operations.take(whole, range(start, start + count)) for start in (0, count))
        return cls(earlier, given, whole if way.change is Change.APPEND else given)


def make(operations: Operations, way: Way, versions: Versions, file: Path) -> None:
    """Change a file; the earlier version is there if the change needs it.

    Raises
    ------
    Exception
        Any that the library raises.
    """
    adapter = _renaming(operations.unchecked, way.renamed)
    if way.change is Change.APPEND:
        # Tables name the file first, arrays the values.
        pair = (file, versions.given)
        adapter.append(*(pair if isinstance(adapter, Changeable) else pair[::-1]))
    elif way.change is Change.STREAM:
        rows = len(versions.given)
        edges = [rows * number // BATCHES for number in range(BATCHES + 1)]
        spans = (range(*each) for each in pairwise(edges))
        batches = [operations.take(versions.given, span) for span in spans if span]
        adapter.save_batches(iter(batches), file)
    else:
        changed = copy.copy(operations)
        changed.unchecked = adapter
        changed.save(versions.given, file)


def _renaming(adapter: Any, renamed: Renamed) -> Any:
    """Return an adapter whose new files come to their names in a way."""
    found = copy.copy(adapter)
    ways: dict[Renamed, Callable[[Any], AbstractContextManager[Path]]] = {
        Renamed.NOT: lambda path: nullcontext(Path(path)),
        Renamed.PLAIN: adapter.replacing,
        Renamed.SYNCED: lambda path: _synced(adapter, Path(path)),
    }
    found.replacing = ways[renamed]
    return found


@contextmanager
def _synced(adapter: BaseAdapter, path: Path) -> Iterator[Path]:
    """Replace a file so that it outlives a power cut: its bytes first, then its name."""
    with adapter.replacing(path) as temporary:
        yield temporary
        page_cache.sync(temporary)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
