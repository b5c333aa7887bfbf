"""Queries to arrays by coordinates, as foxbench.toml declares them."""

from __future__ import annotations

import contextlib
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core import ArraySource, UnsupportedError
from adapter_core.errors import WrongValuesError
from format_bench.display.text import joined
from format_bench.families.operations import OpenQuery
from format_bench.instruments.touch import touch_array
from format_bench.results.status import WRONG

if TYPE_CHECKING:
    import numpy as np

    from adapter_core import ArrayStore
    from adapter_core.array_description import Bounds, Description

DECLARATIONS = Path(__file__).with_name("foxbench.toml")


@dataclass(frozen=True)
class Query:
    """A question to one variable: an area, its levels if it has several, for some hours."""

    name: str
    """As in the paper, e.g. "Q7"."""
    variable: str
    """Name of the variable."""
    area: str
    levels: str
    """Empty for variables without levels."""
    duration: str
    hours: int
    within: Bounds
    """Bounds of all dimensions but time."""

    @property
    def heading(self) -> str:
        """The area and the levels, e.g. "place, one altitude", which queries in a row share."""
        return self.area + {"one": ", one altitude", "all": ", all altitudes"}.get(self.levels, "")

    def check(self, array: Description) -> None:
        """Raise `UnsupportedError` if an array is of another variable, or too short."""
        if array.name != self.variable:
            raise UnsupportedError(f"{self.name} asks {self.variable}, and the array is {array.name}")
        missing = [dim for dim in ("time", *self.within) if dim not in array.coordinates]
        if missing:
            raise UnsupportedError(f"the array has no coordinates of {joined(missing)}")
        hours = array.shape[array.dims.index("time")]
        if hours < self.hours:
            raise UnsupportedError(f"{self.name} asks {self.hours:,} hours, and the array has {hours:,}")

    def bounds(self, array: Description) -> Bounds:
        """Return all bounds on an array with hourly times: from its first time on."""
        first = int(array.coordinates["time"][0])
        return {"time": (first, first + self.hours - 1), **self.within}

    def __str__(self) -> str:
        """Return the query in words, e.g. "t2m, Germany, month"."""
        levels = {"one": "one of the altitudes, ", "all": "all altitudes, "}.get(self.levels, "")
        return f"{self.variable}, {self.area}, {levels}{self.duration}"


@cache
def _declared() -> dict[str, Any]:
    return tomllib.loads(DECLARATIONS.read_text(encoding="utf-8"))


@cache
def queries() -> dict[str, Query]:
    """Return all declared queries by name, in order."""
    declared = _declared()
    found = {}
    for run in declared["queries"]:
        levels = run.get("levels", "")
        ranges = declared["areas"][run["area"]] | (declared["levels"][levels] if levels else {})
        for number, duration in enumerate(run["durations"], start=run["first"]):
            found[f"Q{number}"] = Query(
                f"Q{number}",
                run["variable"],
                run["area"],
                levels,
                duration,
                declared["durations"][duration],
                {dim: (least, largest) for dim, (least, largest) in ranges.items()},
            )
    return found


def queries_to(array: Description) -> list[Query]:
    """Return the queries that apply to an array, in order."""
    found = []
    for query in queries().values():
        with contextlib.suppress(UnsupportedError):
            query.check(array)
            found.append(query)
    return found


def chunks_on(track: str, label: str, array: Description) -> tuple[int, ...]:
    """Return the shape of the chunks that a store writes on a track.

    Parameters
    ----------
    track : str
        Name of the track; foxbench.toml has the edges for the variable and the store.
    label : str
        The store.
    array : Description
        The array: an edge is at most its own, and dimensions without a declared edge are not divided.
    """
    by_variable = _declared()["chunks"][track]
    declared = by_variable.get(array.name) or by_variable.get("all", {})
    kind = label.partition("[")[0]
    edges: dict[str, int] = declared.get(label) or declared.get(kind) or declared.get("all", {})
    return tuple(
        max(1, min(edges.get(dim, edge), edge))
        for dim, edge in zip(array.dims, array.shape, strict=True)
    )


# A chunk of a written answer: whole steps in time, as many as this.
ANSWER_CHUNK_BYTES = 2**24


class ArrayQuery(OpenQuery):
    """A query to an open array.

    Parameters
    ----------
    store : ArrayStore
        The store of the file.
    file : Path
        The file.
    query : Query
        A query that applies.
    array : Description
        Of the array that was saved.
    """

    def __init__(self, store: ArrayStore, file: Path, query: Query, array: Description) -> None:
        self._store, self._array = store, array
        self._bounds = query.bounds(array)
        self._selection = array.selection(self._bounds)
        self._reader = store.open(file)
        # xarray reads coordinates as it opens a file, and other stores later: not in the query's time.
        for dim in self._bounds:
            self._reader.coordinates.get(dim)

    def read(self) -> np.ndarray:
        """Return the values within the query's bounds, in memory."""
        values = self._reader.select(self._bounds)
        touch_array(values)
        return values

    def write(self, answer: np.ndarray, path: Path) -> None:
        """Write the values with their coordinates, uncompressed."""
        array = self._array
        step_bytes = max(1, answer.nbytes // max(1, len(answer)))
        steps = max(1, min(len(answer), ANSWER_CHUNK_BYTES // step_bytes))
        source = ArraySource.of(
            answer,
            (steps, *(max(1, edge) for edge in answer.shape[1:])),
            name=array.name,
            dims=array.dims,
            attributes=array.attributes,
            coordinates={
                dim: array.coordinates[dim][part]
                for dim, part in zip(array.dims, self._selection, strict=True)
                if dim in array.coordinates
            },
            coordinate_attributes=array.coordinate_attributes,
        )
        self._store.write_answer(source, path)

    def verify(self, answer: np.ndarray, data: ArraySource) -> str:
        """Compare an answer with NumPy's on the data, bit by bit; return the number of values.

        Raises
        ------
        WrongValuesError
            If shape, dtype or a value differs.
        """
        wanted = data.read(self._selection)
        if answer.shape != wanted.shape or answer.dtype != wanted.dtype:
            raise WrongValuesError(
                f"{WRONG}{answer.dtype} of shape {answer.shape} instead of {wanted.dtype} of shape "
                f"{wanted.shape}"
            )
        differs = (_bytes_of(answer) != _bytes_of(wanted)).any(axis=1)
        if differs.any():
            raise WrongValuesError(f"{WRONG}{differs.sum():,} of {answer.size:,} values")
        return f"{answer.size:,} values, all equal to NumPy's"

    def close(self) -> None:
        """Close the array."""
        self._reader.close()


def _bytes_of(values: np.ndarray) -> np.ndarray:
    """Return the bytes of each value; shape (size, itemsize), uint8."""
    import numpy as np

    return np.ascontiguousarray(values).reshape(-1, 1).view(np.uint8)
