"""Shape of the chunks that an array is stored in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from adapter_core.array_store import Property
from adapter_core.errors import InvalidRequestError
from format_bench.conditions.axis import Axis
from format_bench.families.cases import Case
from format_bench.families.operations import Operations, registry_of


class ChunkShape(Axis):
    """Edges of a chunk, cut at the array's own, in place of the chunks that the array came with."""

    name = "chunk shape"
    help = "Chunk shapes of stored arrays, e.g. 1x560x1440,24x40x40. [default: the array's own]"
    order = 20

    def parse(self, text: str) -> str:
        """Return the edges as records have them, e.g. "1x560x1440"."""
        edges = text.lower().replace(" ", "").split("x")
        if not all(each.isdecimal() and int(each) for each in edges):
            raise InvalidRequestError(f"{self.option} {text}: write e.g. 1x560x1440")
        return shape_text(map(int, edges))

    def why_not(self, value: str, case: Case) -> str:  # noqa: ARG002 (any shape)
        """Return why a format does not store arrays in chunks."""
        if case.family.name != "arrays":
            return f"the suite {case.suite} saves no arrays, which chunks are of"
        store = registry_of(case.family).find(case.format)
        if Property.CHUNKS not in store.keeps:
            return f"{case.format} does not divide arrays into chunks"
        return ""

    @contextmanager
    def under(self, value: str, operations: Operations) -> Iterator[None]:
        """Save in these chunks."""
        operations.chunk_shape = edges_of(value)  # type: ignore[attr-defined]
        yield


def shape_text(edges: Iterable[int]) -> str:
    """Return edges as the text of this axis, e.g. "1x50x100"."""
    return "x".join(map(str, edges))


def edges_of(text: str) -> tuple[int, ...]:
    """Return the edges of a text from `shape_text`."""
    return tuple(map(int, text.split("x")))
