"""Entries of a race: formats with their codecs and levels, in the order in which they are tried."""

from __future__ import annotations

import operator
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from adapter_core import Codec, UnavailableError
from adapter_core.codecs import algorithm_of, shuffles
from data_generator.user.summary import ArrayDescription, RecordsDescription, TableDescription
from format_bench.conditions import why_not
from format_bench.families.cases import Case
from format_bench.families.operations import operations_of, registry_of
from format_bench.results.candidates import Configuration
from format_bench.results.conditions import Conditions
from format_bench.results.display.text import joined

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

    from adapter_core.error_bounds import ErrorBound
    from format_bench.racing.promise import Promise
    from format_bench.results.suites import Family
    from format_bench.runner.user_data import Description

# Algorithms and levels that are worth a try, in this order, beside each format without a codec and with
# its own default; docs/compression.md ("Worth trying") has the reasons. None: a codec without levels.
WORTH_TRYING: tuple[tuple[str, tuple[int, ...]], ...] = (("zstd", (1, 9)), ("lz4", (1,)))

# Tried where a format offers neither of these.
ELSE_WORTH_TRYING = ("gzip", (1,))

# Endings of files that adapters write with another one.
_SAME_SUFFIX = {".pq": ".parquet", ".arrow": ".feather", ".ipc": ".feather", ".pickle": ".pkl"}

# Codecs of compressed text, by the last ending of its file.
_BY_ENDING = {".gz": "gzip", ".zst": "zstd", ".xz": "xz"}


class Entries(NamedTuple):
    """Entries of a race, and formats that cannot be any."""

    cases: list[Case]
    """In the order of their labels, without a codec first."""
    unavailable: dict[str, str]
    """Why a format is not a candidate here, by label: a package is missing."""

    @property
    def by_configuration(self) -> dict[Configuration, Case]:
        """The cases by their configurations, with the names of their families."""
        return {
            Configuration(
                *(each.format, each.codec, each.level, each.threads),
                error_bound=each.conditions.get("error bound", ""),
                family=each.family.name,
            ): each
            for each in self.cases
        }


def entries_of(  # noqa: PLR0913 (what a race is of)
    family: Family,
    dataset: str,
    rows: int,
    *,
    thorough: bool = False,
    max_error: ErrorBound | None = None,
    own: Path | None = None,
) -> Entries:
    """Return the cases of a race, all of the family's first suite.

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
    max_error : ErrorBound, optional
        Also take lossy codecs within this bound, and lossless ones after rounding.
    own : pathlib.Path, optional
        The user's file: also take the codec around it, of the format that writes such files.
    """
    registry, suite = registry_of(family), family.suites[0].name
    found: dict[Case, None] = {}
    unavailable = {}
    for label in registry.names():
        try:
            adapter = registry.find(label)
        except UnavailableError as error:
            unavailable[label] = error.reason
            continue
        answer = adapter.installed()
        if not answer:
            unavailable[label] = answer.reason
            continue
        for codec, level in _choices(family, adapter, own, thorough=thorough):
            found[Case(label, dataset, rows, codec=codec, level=level, suite=suite)] = None
        if max_error and operations_of(family).has_error_bounds:
            conditions = Conditions({"error bound": str(max_error)})
            for codec, level in _bounded(adapter, thorough=thorough):
                case = Case(label, dataset, rows, conditions, codec, level, suite)
                if not why_not(case):
                    found[case] = None
    return Entries(list(found), unavailable)


def in_order(entries: Iterable[Configuration], promise: Promise, family: Family) -> list[Configuration]:
    """Return the entries of a race in the order in which they are tried.

    That is the order of their promise; where nothing is known, formats of their own come before other
    engines of them. Of array stores the best entry of each comes before the second one of any, and
    stores with earlier results before those without: how one does depends on the shape of chunks, which
    measurements of other data do not know.
    """
    order = sorted(entries, key=lambda each: (promise.of(each), "[" in each.format))
    if family.name != "arrays":
        return order
    seen: Counter[tuple[str, str]] = Counter()
    places = []
    for each in order:
        way = each.format, each.error_bound
        places.append((seen[way], not promise.knows(each.format)))
        seen[way] += 1
    return [each for _, each in sorted(zip(places, order, strict=True), key=operator.itemgetter(0))]


def refusal_of(family: Family, label: str, data: Description) -> str:
    """Return why an adapter cannot hold data, by the kinds that it declares; empty if it may."""
    adapter: Any = registry_of(family).find(label)
    if isinstance(data, TableDescription):
        refused = {str(kind): reason for kind, reason in adapter.refuses.items()}
        for column in data.columns:
            if column.kind in refused:
                reason = f"column {column.name!r} contains {column.kind}; {refused[column.kind]}"
                return str(adapter.refusal(reason))
    if isinstance(data, ArrayDescription) and data.dtype not in adapter.dtypes:
        return str(adapter.refusal(f"values of type {data.dtype} are not supported"))
    return str(adapter.refusal(data.of)) if isinstance(data, RecordsDescription) else ""


def loss_of(family: Family, label: str, data: Description) -> str:
    """Return the parts of an array that an adapter loses by its declaration; empty if none."""
    adapter: Any = registry_of(family).find(label)
    if not isinstance(data, ArrayDescription):
        return ""
    lost = [each for each in data.properties if each not in {str(kept) for kept in adapter.keeps}]
    if not lost:
        return ""
    return f"{label} loses {joined(lost, most=None)} of the array; --allow-lossy takes it in"


def baseline_of(path: Path, family: Family, entries: Collection[Configuration]) -> Configuration | None:
    """Return the entry that writes files like the user's own; None if none or several formats may.

    Parameters
    ----------
    path : pathlib.Path
        The user's file or folder; its ending decides.
    family : Family
        The family of the data.
    entries : collection of Configuration
        The entries of the race.
    """
    codec = _BY_ENDING.get(path.suffix.lower())
    adapters = [registry_of(family).find(each) for each in {each.format for each in entries}]
    alike = [each for each in adapters if _writes_alike(each, path)]
    # GeoParquet, of the suite of features, has Parquet's ending: usual formats come first.
    alike = [each for each in alike if not each.suite] or alike
    if len(alike) != 1:
        return None
    own = getattr(alike[0], "default_codec", None) if codec is None else codec
    same = [each for each in entries if each.format == alike[0].label and each.codec == own]
    # A plain file is no measure of one that is compressed as a whole.
    plain = [each for each in entries if each.format == alike[0].label and not (each.codec or codec)]
    return next(iter([*same, *plain]), None)


def _writes_alike(adapter: Any, path: Path) -> bool:
    """Return whether files of an adapter have the ending of a file, without a codec's after it."""
    is_compressed = path.suffix.lower() in _BY_ENDING
    suffix = (path.with_suffix("") if is_compressed else path).suffix.lower()
    return bool(adapter.suffix == _SAME_SUFFIX.get(suffix, suffix)) and "[" not in adapter.label


def _codec_around(path: Path, adapter: Any) -> str | None:
    """Return the codec around a file if an adapter writes such files with it."""
    codec = _BY_ENDING.get(path.suffix.lower())
    has_it = _writes_alike(adapter, path) and codec in {each.name for each in adapter.codecs}
    return codec if has_it else None


def _choices(
    family: Family, adapter: Any, own: Path | None, *, thorough: bool
) -> Iterator[tuple[str | None, int | None]]:
    """Yield codecs and levels of a format; the first is none."""
    yield None, None
    if not family.takes_codecs:
        return
    if thorough:
        for codec in _lossless(adapter):
            for level in codec.levels or (None,):
                yield codec.name, level
        return
    tried = list(_worth_trying(adapter))
    yield from tried
    around = _codec_around(own, adapter) if own else None
    if around and around not in dict(tried):
        yield around, None


def _bounded(adapter: Any, *, thorough: bool) -> Iterator[tuple[str | None, int | None]]:
    """Yield lossy codecs, and ways to save rounded values; rounding alone saves no space."""
    yield from ((codec.name, None) for codec in adapter.codecs if codec.bounds)
    if not adapter.codecs or getattr(adapter, "error", None):
        yield None, None
    levels = ((each.name, level) for each in _lossless(adapter) for level in each.levels or (None,))
    yield from levels if thorough else _worth_trying(adapter)


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
