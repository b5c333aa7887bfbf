"""Entries of a race: formats with their codecs and levels, in the order in which they are tried."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from adapter_core import UnavailableError, UnknownNameError
from adapter_core.codecs import algorithm_of, shuffles
from format_bench.families.cases import Case
from format_bench.families.operations import registry_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adapter_core import Codec
    from format_bench.results.suites import Family

# Algorithms and levels that are worth a try, in this order, beside each format without a codec and with
# its own default; docs/compression.md ("Worth trying") has the reasons. None: a codec without levels.
WORTH_TRYING: tuple[tuple[str, tuple[int, ...]], ...] = (("zstd", (1, 9)), ("lz4", (1,)))

# Tried where a format offers neither of these.
ELSE_WORTH_TRYING = ("gzip", (1,))

# Libraries that the server of measuring processes has imported.
_IMPORTED = {"numpy", "pandas", "pyarrow"}


class Entries(NamedTuple):
    """Entries of a race, in the order in which they are tried."""

    first: list[Case]
    """The usual formats, without codec and with zstd at its first level."""
    others: list[Case]
    """The other codecs and levels of the usual formats; then the further engines and formats, without
    codec first."""


def entries_of(family: Family, dataset: str, rows: int, *, thorough: bool = False) -> Entries:
    """Return the cases of a race, all of the family's first suite.

    Formats come first if their libraries are imported already: they cost the least time.

    Parameters
    ----------
    family : Family
        The family of the data.
    dataset : str
        Name of the data set.
    rows : int
        Rows, or images, of the data set.
    thorough : bool
        Take all codecs at all levels.
    """
    registry, suite = registry_of(family), family.suites[0].name
    by_libraries = partial(_further_libraries, family)
    usual = registry.usual_names()
    found = Entries([], [])
    for label in sorted(registry.names(), key=by_libraries):
        for place, (codec, level) in enumerate(_choices(family, label, thorough=thorough)):
            case = Case(label, dataset, rows, codec=codec, level=level, suite=suite)
            if case in found.first or case in found.others:
                continue
            is_first = place == 0 or (place == 1 and algorithm_of(codec or "") == WORTH_TRYING[0][0])
            (found.first if is_first and label in usual else found.others).append(case)
    # Each engine without codec comes before the codecs of any, which its result may make needless.
    found.others.sort(key=lambda case: case.format not in usual and 1 + (case.codec is not None))
    return found


def _further_libraries(family: Family, label: str) -> int:
    """Return the number of libraries that a format, without codecs, has to import."""
    try:
        adapter = registry_of(family).find(label)
    except (UnavailableError, UnknownNameError):
        return 0
    of_codecs = {codec.requires for codec in getattr(adapter, "codecs", ())}
    needed = {re.split(r"\W", each, maxsplit=1)[0] for each in adapter.requires if each not in of_codecs}
    return len(needed - _IMPORTED)


def _choices(family: Family, label: str, *, thorough: bool) -> Iterator[tuple[str | None, int | None]]:
    """Yield codecs and levels of a format; the first is none."""
    yield None, None
    if not family.takes_codecs:
        return
    try:
        adapter = registry_of(family).find(label)
    except (UnavailableError, UnknownNameError):
        return  # as its only case will find out, and record
    if thorough:
        for codec in _lossless(adapter):
            for level in codec.levels or (None,):
                yield codec.name, level
        return
    yield from _worth_trying(adapter)


def _lossless(adapter: Any) -> list[Codec]:
    return [codec for codec in adapter.codecs if codec.error is None]


def _worth_trying(adapter: Any) -> Iterator[tuple[str | None, int | None]]:
    by_algorithm: dict[str, Codec] = {}
    # Of several ways to apply an algorithm to numbers, one that shuffles their bytes is worth most.
    for codec in sorted(_lossless(adapter), key=lambda each: not shuffles(each.name)):
        by_algorithm.setdefault(algorithm_of(codec.name), codec)
    wanted = [each for each in WORTH_TRYING if each[0] in by_algorithm] or [ELSE_WORTH_TRYING]
    for algorithm, levels in wanted:
        if found := by_algorithm.get(algorithm):
            for level in levels if found.levels else (None,):
                yield found.name, level
    if adapter.default_codec and adapter.codecs:
        yield adapter.default_codec, None
