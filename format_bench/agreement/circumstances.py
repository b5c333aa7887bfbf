"""In what the circumstances of two results differ: candidates for why their values do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from format_bench.results.load import Results

_OF_NO_INTEREST = {
    "started",
    "ended",
    "available_bytes",
    "path",
    "free_bytes",
    "mount_point",
    "device",
    "options",
    "shapes",
    "time",
    "asv_commit",
}
"""What differs between any two runs, or says nothing of speed."""


class Difference(NamedTuple):
    """A circumstance that differs, or is known on one side alone."""

    name: str
    """As in "libraries pandas"."""
    a: str | None
    """None if it is not known."""
    b: str | None


def differences(a: Results, b: Results) -> list[Difference]:
    """Return in what the newest circumstances of two results differ; nothing if either has none."""
    if not (a.circumstances and b.circumstances):
        return []
    one, other = (dict(_leaves(each.circumstances[-1])) for each in (a, b))
    names = dict.fromkeys([*one, *other])
    found = [Difference(name, one.get(name), other.get(name)) for name in names]
    return [each for each in found if each.a != each.b]


def _leaves(facts: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str | None]]:
    for name, value in facts.items():
        if name in _OF_NO_INTEREST:
            continue
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}{name} ".replace("_", " "))
        else:
            yield f"{prefix}{name}", None if value is None else str(value)
