"""Canonical form of an n-d array: a table of one row, with a column for each fact of the array.

Shape, chunks, values in C order and names of dimensions are lists; each attribute, and the coordinates
of each dimension, are columns of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapter_core.array_store import Property
from format_bench.verification.arrays import clipped
from format_bench.verification.canonical import CanonicalTable, Type, printed
from format_bench.verification.sameness import SHOWN, Difference, Sameness, compare_values

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import numpy as np

    from adapter_core.array_description import Description

VALUES = "values"

ATTRIBUTE, COORDINATE, OF = "attribute ", "coordinate ", " of coordinate "
"""Beginnings of names of columns; after an attribute's name, its coordinate may follow."""

_CHUNKS = "chunks"

Fact = tuple[Type, Any]


def of_array(
    described: Description, values: np.ndarray, kept: Collection[Property] = frozenset(Property)
) -> CanonicalTable:
    """Return an array in canonical form.

    Parameters
    ----------
    described : Description
        Its properties.
    values : numpy.ndarray
        All values.
    kept : collection of Property
        Properties that are printed.
    """
    facts: dict[str, Fact] = {"shape": _list([*values.shape]), VALUES: _numbers(values)}
    if Property.NAME in kept:
        facts["name"] = _fact(described.name)
    if Property.DIMS in kept:
        facts["dims"] = _list([*described.dims], "utf8")
    if Property.CHUNKS in kept:
        # Formats do not agree on chunks that reach beyond the array.
        facts[_CHUNKS] = _list([*clipped(described.chunks, values.shape)])
    if Property.ATTRIBUTES in kept:
        facts |= _attributes(described.attributes)
    if Property.COORDINATES in kept:
        facts |= {f"{COORDINATE}{dim}": _numbers(line) for dim, line in described.coordinates.items()}
    if Property.COORDINATE_ATTRIBUTES in kept:
        for dim, attributes in described.coordinate_attributes.items():
            facts |= _attributes(attributes, f"{OF}{dim}")
    names = sorted(facts)
    return CanonicalTable(
        tuple((name, facts[name][0]) for name in names), [[facts[name][1] for name in names]]
    )


def _attributes(attributes: Mapping[str, Any], after: str = "") -> dict[str, Fact]:
    return {f"{ATTRIBUTE}{name}{after}": _fact(value) for name, value in attributes.items()}


def _fact(value: Any) -> Fact:
    """Return the type and the canonical value of text, a number or a list."""
    import pyarrow as pa

    try:
        kind, (found,) = printed(pa.array([value]))
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return Type("other", (type(value).__name__,)), repr(value)
    return kind, found


def _list(values: list[Any], of: str = "int64") -> Fact:
    return Type("list", (), (("", Type(of)),)), values if of == "utf8" else list(map(str, values))


def _numbers(values: np.ndarray) -> Fact:
    """Return the list of all values."""
    import numpy as np

    kind, found = _printed(np.ascontiguousarray(values).reshape(-1))
    return Type("list", (), (("", kind),)), found


def _printed(flat: np.ndarray) -> Fact:
    """Return the type and the values of an array of one dimension; complex numbers are structs."""
    import pyarrow as pa

    if flat.dtype.kind == "c":
        fields = {"real": flat.real, "imaginary": flat.imag}
    elif flat.dtype.names:
        fields = {name: flat[name] for name in flat.dtype.names}
    else:
        # Arrow has the machine's byte order alone.
        return printed(pa.array(flat.astype(flat.dtype.newbyteorder("="), copy=False)))
    found = {name: _printed(part.copy()) for name, part in fields.items()}
    parts = tuple((name, kind) for name, (kind, _) in found.items())
    return Type("struct", (), parts), [
        list(row) for row in zip(*(part for _, part in found.values()), strict=True)
    ]


def compare_arrays(saved: CanonicalTable, read: CanonicalTable) -> Sameness:
    """Compare the array that a reader has printed with the one saved, both in canonical form.

    Facts that were not saved do not count: files have some of their own. Other chunks are another type,
    as the values are the same.

    Raises
    ------
    CanonicalFormError
        If a value is none of its type.
    """
    back = {name: position for position, (name, _) in enumerate(read.columns)}
    changed, changes, retypings = 0, list[str](), list[str]()
    for position, (name, kind) in enumerate(saved.columns):
        if name not in back or not read.rows:
            found = Difference([0], [f"{name} is missing"], "")
        else:
            fact_back = read.columns[back[name]][1], read.rows[0][back[name]]
            found = _compare_fact(name, (kind, saved.rows[0][position]), fact_back)
        if name == _CHUNKS and found.wrong:
            found = Difference([], [], found.shown[0])
        changed += len(found.wrong)
        changes += found.shown
        retypings += filter(None, [found.retyping])
    more = f"{changed - SHOWN:,} more" if changed > SHOWN else ""
    shown = [*changes[:SHOWN], *filter(None, [more]), *retypings[: max(1, SHOWN - len(changes))]]
    return Sameness(changed, len(retypings), "; ".join(shown))


def _is_one_value(*facts: Fact) -> bool:
    """Return whether a list of one value equals a value: attributes of netCDF are lists in HDF5."""
    plain = [
        (kind.parts[0][1], value[0]) if kind.name == "list" and len(value or ()) == 1 else (kind, value)
        for kind, value in facts
    ]
    (kind, one), (kind_back, other) = plain
    return not compare_values(kind, [one], kind_back, [other]).wrong


def _compare_fact(name: str, saved: Fact, read: Fact) -> Difference:
    (kind, one), (kind_back, other) = saved, read
    if {kind.name, kind_back.name} > {"list"} and _is_one_value(saved, read):
        return Difference([], [], f"{name}: {kind} came back as {kind_back}")
    are_lists = {kind.name, kind_back.name} == {"list"} and other is not None
    if are_lists and len(one) != len(other):
        return Difference([0], [f"{name}: {len(one):,} values came back as {len(other):,}"], "")
    if are_lists:
        found = compare_values(kind.parts[0][1], one, kind_back.parts[0][1], other)
    else:
        found = compare_values(kind, [one], kind_back, [other])
    places = [f", value {place}" if are_lists else "" for place in found.wrong]
    shown = [f"{name}{place}: {each}" for place, each in zip(places, found.shown, strict=False)]
    return Difference(found.wrong, shown, f"{name}: {found.retyping}" if found.retyping else "")
