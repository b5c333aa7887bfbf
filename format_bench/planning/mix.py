"""Mix of queries to an array: a user's access pattern, from a TOML file.

docs/planning.md has the schema.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.errors import InvalidMixError
from data_generator.random_words import RandomWords
from format_bench.families.arrays.queries import bounds_of, queries_to
from format_bench.families.questions import declared

if TYPE_CHECKING:
    from adapter_core.array_description import Description
    from adapter_core.array_source import Selection

ALL = "all"
FOXBENCH = "foxbench"
"""Name of all FoxBench queries that apply to the array."""
MEANS = ("arithmetic", "geometric")
_ENDS = 2  # of a range of coordinates
_KEYS = frozenset({"mean", "keep_open", "query"})
_QUERY_KEYS = frozenset({"name", "weight", "bounds", "query"})


@dataclass(frozen=True)
class MixQuery:
    """A kind of query: a hyperrectangle of some extents, at random or fixed places."""

    name: str
    weight: float
    extents: tuple[int, ...]
    """Indexes along each axis."""
    starts: tuple[int | None, ...]
    """First index along each axis; None for a random one."""

    def selection(self, shape: tuple[int, ...], *key: str | int) -> Selection:
        """Return a selection; a random place depends on the key alone."""
        places = RandomWords("places of queries", self.name, *key).uniform(len(shape)).tolist()
        return tuple(
            slice(first, first + extent)
            for first, extent in (
                (int(place * (edge - extent + 1)) if start is None else start, extent)
                for place, edge, extent, start in zip(
                    places, shape, self.extents, self.starts, strict=True
                )
            )
        )

    def scaled(self, shape: tuple[int, ...], smaller: tuple[int, ...]) -> MixQuery:
        """Return the query to a smaller array: the same extents, cut where the array is shorter.

        An extent of a whole axis remains one of the whole axis, and a fixed place keeps its relative
        position.
        """
        extents, starts = [], []
        for edge, less, extent, start in zip(shape, smaller, self.extents, self.starts, strict=True):
            cut = less if extent == edge else min(extent, less)
            extents.append(cut)
            room = (less - cut) / max(1, edge - extent)
            starts.append(None if start is None else min(less - cut, round(start * room)))
        return MixQuery(self.name, self.weight, tuple(extents), tuple(starts))


@dataclass(frozen=True)
class Mix:
    """The queries of a user to an array, with weights that add up to 1."""

    queries: tuple[MixQuery, ...]
    mean: str = MEANS[0]
    """Mean of the times of the queries that is to be small."""
    keep_open: bool = False
    """True if the array is opened once for many queries; else a query includes opening."""

    def scaled(self, shape: tuple[int, ...], smaller: tuple[int, ...]) -> Mix:
        """Return the mix to a smaller array."""
        scaled = tuple(each.scaled(shape, smaller) for each in self.queries)
        return Mix(scaled, self.mean, self.keep_open)

    def cost(self, seconds: Any) -> Any:
        """Return the weighted mean of the times of the queries.

        Parameters
        ----------
        seconds : array_like
            Times; the first axis is the queries.
        """
        import numpy as np

        weights = np.array([each.weight for each in self.queries])
        times = np.asarray(seconds, float)
        if self.mean == "geometric":
            return np.exp(np.tensordot(weights, np.log(np.maximum(times, 1e-9)), 1))
        return np.tensordot(weights, times, 1)


def read_mix(path: Path, array: Description) -> Mix:
    """Return the mix of a file as queries to an array.

    Raises
    ------
    InvalidMixError
        If the file cannot be read, or is not a mix of queries to this array; the message names the
        line, or the number of the query.
    """
    try:
        declared = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidMixError(f"{path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidMixError(f"{path}: is not TOML: {error}") from error
    try:
        return mix_of(declared, array)
    except InvalidMixError as error:
        raise InvalidMixError(f"{path}: {error}") from None


def mix_of(declared: Mapping[str, Any], array: Description) -> Mix:
    """Return the mix of a file's values.

    Raises
    ------
    InvalidMixError
        If they are not a mix of queries to this array.
    """
    if unknown := sorted(set(declared) - _KEYS):
        raise InvalidMixError(f"unknown key {unknown[0]!r}; known: {', '.join(sorted(_KEYS))}")
    entries = declared.get("query", [])
    if not isinstance(entries, list) or not entries or not all(isinstance(e, dict) for e in entries):
        raise InvalidMixError("contains no query; write each below a line [[query]]")
    mean, keep_open = declared.get("mean", MEANS[0]), declared.get("keep_open", False)
    if mean not in MEANS:
        raise InvalidMixError(f"mean is {mean!r}; write {' or '.join(map(repr, MEANS))}")
    if not isinstance(keep_open, bool):
        raise InvalidMixError(f"keep_open is {keep_open!r}; write true or false")
    found: list[MixQuery] = []
    for number, entry in enumerate(entries, start=1):
        try:
            found += _queries(entry, array, number)
        except InvalidMixError as error:
            raise InvalidMixError(f"query {number}: {error}") from None
    whole = sum(each.weight for each in found)
    normal = (
        MixQuery(each.name, each.weight / whole, each.extents, each.starts) for each in _distinct(found)
    )
    return Mix(tuple(normal), mean, keep_open)


def _distinct(found: list[MixQuery]) -> Iterator[MixQuery]:
    """Yield queries with distinct names."""
    names = [each.name for each in found]
    for number, each in enumerate(found, start=1):
        name = each.name if names.count(each.name) == 1 else f"{each.name} ({number})"
        yield MixQuery(name, each.weight, each.extents, each.starts)


def _queries(entry: Mapping[str, Any], array: Description, number: int) -> list[MixQuery]:
    weight = entry.get("weight", 1)
    if not _is_number(weight) or not 0 < weight <= sys.float_info.max:
        raise InvalidMixError(f"weight is {weight!r}; write a number above 0")
    if "query" in entry:
        return _declared(entry, array, float(weight))
    ranges = _ranges(entry, array)
    name = entry.get("name", f"query {number}")
    if not isinstance(name, str) or not name:
        raise InvalidMixError(f"name is {name!r}; write a text")
    return [_query(name, float(weight), ranges)]


def _declared(entry: Mapping[str, Any], array: Description, weight: float) -> list[MixQuery]:
    """Return a query of FoxBench by its name, or all that apply."""
    if further := sorted(set(entry) - {"query", "weight"}):
        raise InvalidMixError(f"a query by its name has no {further[0]!r}, only a weight")
    name = entry["query"]
    applying = queries_to(array)
    wanted = applying if name == FOXBENCH else [each for each in applying if each.name == name]
    if not wanted:
        if name != FOXBENCH and name not in declared("arrays").by_name:
            raise InvalidMixError(f"there is no query {name!r}; known: {FOXBENCH}, Q1 to Q40")
        what = "no query of FoxBench applies" if name == FOXBENCH else f"{name} does not apply"
        raise InvalidMixError(f"{what} to {array.name!r} of shape {_by(array.shape)}")
    return [_query(each.name, weight, _of_bounds(bounds_of(each, array), array, "")) for each in wanted]


_Range = tuple[int, int | None]


def _query(name: str, weight: float, ranges: Mapping[str, _Range]) -> MixQuery:
    extents, starts = zip(*ranges.values(), strict=True)
    return MixQuery(name, weight, extents, starts)


def _ranges(entry: Mapping[str, Any], array: Description) -> dict[str, _Range]:
    """Return extent and first index by dimension, in the order of the axes."""
    bounds = entry.get("bounds", {})
    if not isinstance(bounds, dict):
        raise InvalidMixError(f"bounds are {bounds!r}; write a table, e.g. {{ latitude = [47, 55] }}")
    extents = {key: value for key, value in entry.items() if key not in _QUERY_KEYS}
    for dim in (*extents, *bounds):
        if dim not in array.dims:
            raise InvalidMixError(f"the array has no dimension {dim!r}; it has {', '.join(array.dims)}")
    if both := sorted(set(extents) & set(bounds)):
        raise InvalidMixError(f"{both[0]} has an extent and bounds; write one of them")
    found = _of_bounds(bounds, array, "bounds of ")
    for dim, edge in zip(array.dims, array.shape, strict=True):
        if dim in extents:
            found[dim] = (_extent(dim, extents[dim], edge), None)
    return found


def _of_bounds(bounds: Mapping[str, Any], array: Description, prefix: str) -> dict[str, _Range]:
    """Return extent and first index by dimension for bounds of coordinates; whole axes elsewhere."""
    found: dict[str, _Range] = {}
    for dim, edge in zip(array.dims, array.shape, strict=True):
        found[dim] = (edge, 0)
        if dim in bounds:
            pair = bounds[dim]
            if not (
                isinstance(pair, list | tuple) and len(pair) == _ENDS and all(map(_is_number, pair))
            ):
                raise InvalidMixError(f"{prefix}{dim} are {pair!r}; write two numbers, e.g. [47, 55]")
            if dim not in array.coordinates:
                raise InvalidMixError(f"{dim} has no coordinates; write an extent instead of bounds")
            axis = array.dims.index(dim)
            within = array.selection({dim: (min(pair), max(pair))})[axis]
            if within.start == within.stop:
                raise InvalidMixError(f"no {dim} lies from {min(pair)} to {max(pair)}")
            found[dim] = (within.stop - within.start, within.start)
    return found


def _extent(dim: str, value: Any, edge: int) -> int:
    if value == ALL:
        return edge
    if isinstance(value, int) and not isinstance(value, bool):
        if not 1 <= value <= edge:
            raise InvalidMixError(f"{dim} = {value}, but the array has {edge} indexes along it")
        return value
    if isinstance(value, float) and 0 < value <= 1:
        return max(1, round(value * edge))
    raise InvalidMixError(
        f"{dim} = {value!r}; write a number of indexes, a share such as 0.1, or {ALL!r}"
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _by(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))
