"""Cases of the codec grid: the codecs and levels that are measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import data_formats
import data_generator
from adapter_core import Codec, UnavailableError, UnknownNameError, UnsupportedError
from adapter_core.errors import InvalidGridError
from format_bench.families.cases import Case

if TYPE_CHECKING:
    from format_bench.results.suites import Step


# Names of the runner's steps that the grid measures.
STEPS = ("save", "read")

# Two or three of many levels, e.g. of zstd's 22, would hide the level at which the cost soars. So of a
# range of more levels than this every sixth is measured, too.
LONG_RANGE = 12
EVERY = 6


def measured_steps(case: Case) -> list[Step]:
    """Return the steps of a case that the grid measures."""
    return [step for step in case.steps if step.name in STEPS]


def cases(labels: Iterable[str], dataset: str, rows: int, *, full: bool) -> list[Case]:
    """Return a case for each codec and level of some formats; each format's uncompressed case is first.

    Parameters
    ----------
    labels : iterable of str
        Labels of formats; if empty, those of all usual formats that have codecs.
    dataset : str
        Name of a table.
    rows : int
        Rows of the table.
    full : bool
        All levels, not only the lowest, the default and the highest, and a few between them in long
        ranges.

    Raises
    ------
    InvalidGridError
        If `rows` is less than 1.
    UnknownNameError
        If a format or the table does not exist.
    UnsupportedError
        If a format offers no choice of a codec.
    """
    if rows < 1:
        raise InvalidGridError(f"a grid needs a table of at least 1 row, not {rows}")
    if dataset not in data_generator.names():
        raise UnknownNameError("table", dataset, data_generator.names())
    found = []
    for label in dict.fromkeys(labels) or data_formats.registry.usual_names():
        try:
            codecs = data_formats.find(label).codecs
        except UnavailableError:
            # One case, which the runner records as unavailable with the reason.
            found.append(Case(label, dataset, rows))
            continue
        if codecs:
            found += [Case(label, dataset, rows), *_compressed(label, dataset, rows, codecs, full=full)]
        elif labels:
            raise UnsupportedError(f"{label} offers no choice of a codec")
    return found


def _compressed(
    label: str, dataset: str, rows: int, codecs: tuple[Codec, ...], *, full: bool
) -> Iterator[Case]:
    for codec in codecs:
        for level in _levels(codec, full=full):
            yield Case(label, dataset, rows, codec=codec.name, level=level)


def _levels(codec: Codec, *, full: bool) -> list[int | None]:
    if codec.levels is None:
        return [None]
    if full:
        return list(codec.levels)
    wanted = {codec.levels[0], codec.levels[-1], codec.default_level}
    if len(codec.levels) > LONG_RANGE:
        wanted.update(codec.levels[::EVERY])
    return [level for level in codec.levels if level in wanted]
