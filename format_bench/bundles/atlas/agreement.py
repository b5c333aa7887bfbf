"""Agreement of machines on rankings: typical order, spread of each cell, pairs that turn around.

Logarithms of values are the sum of a level of the bundle and one of the configuration, so that machines
of different speed, and with different formats, compare. In a bundle, one configuration is ahead of
another if the other's value is larger by more than the noise there.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from format_bench.bundles.atlas.dependence import Dependence, explained
from format_bench.bundles.checks import MOST_NOISE
from format_bench.comparison import FEWEST_RANKED
from format_bench.results.groups import query_order, sorted_measures
from format_bench.results.metrics import METRICS, Measure, Noise
from format_bench.results.suites import suite_order

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from format_bench.bundles.atlas.collection import Columns, Entry, Group
    from format_bench.results.candidates import Configuration

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]
    Places = NDArray[np.int64]

# Ends of a spread: one of ten bundles is below, and one above.
_ENDS = (0.1, 0.5, 0.9)

# Versions in files, and times in them, change their sizes by less.
_SIZE_NOISE = 0.01

# Share of machines that contradict the others by chance: one cell in twenty exceeds the noise, half of
# these on each side.
_CHANCE = 0.025

# Alternations of medians, after which levels change by less than noise.
_ALTERNATIONS = 5

# Configurations of a ranking, those of the most bundles first: bundles from anybody may have thousands.
MOST_CONFIGURATIONS = 200

# Turning pairs that are shown, and explained, of a ranking: those that divide machines most evenly.
MOST_TURNS = 8


class Spread(NamedTuple):
    """Median over bundles, and between the values below which one and nine of ten are."""

    low: float
    median: float
    high: float


@dataclass(frozen=True)
class Row:
    """A configuration in a ranking."""

    configuration: Configuration
    bundles: int
    first_on: int
    """Machines on which it is first, or ties with the first, in some bundle."""
    ratio: Spread
    """To the typical best, on a machine of typical speed."""
    value: Spread
    """In the unit of the measure."""


@dataclass(frozen=True)
class Turn:
    """Two configurations, each ahead of the other on some machine."""

    one: Configuration
    other: Configuration
    one_ahead: int
    """Machines on which the first is ahead by more than noise, in some bundle."""
    other_ahead: int
    dependence: Dependence | None
    """None for too few machines."""


@dataclass(frozen=True)
class Ranking:
    """Order of configurations by one measure, over all machines that have it."""

    group: Group
    measure: Measure
    rows: list[Row]
    """In the typical order."""
    machines: int
    bundles: int
    pairs: int
    """Pairs that some machine orders."""
    turning: int
    """Pairs that machines order differently, more of them than by chance."""
    turns: list[Turn]
    """At most `MOST_TURNS` of them."""
    agreement: Spread | None
    """Spearman's rho of the order of a bundle and the typical one; None below three configurations."""

    @property
    def holds(self) -> bool:
        """Whether machines contradict each other by chance alone."""
        return not self.turning


class Values(NamedTuple):
    """Values of one measure in a group: a row for each bundle, a column for each configuration."""

    entries: list[Entry]
    """Sorted by machine."""
    configurations: list[Configuration]
    logs: Floats
    """Shape (entries, configurations); NaN without a value."""


class Rankings:
    """Rankings of all groups and measures of an atlas.

    Parameters
    ----------
    columns : Columns
        The bundles.
    """

    def __init__(self, columns: Columns) -> None:
        import numpy as np

        self._entries = columns.entries
        names = [each.machine for each in columns.entries]
        self._machine = np.unique(names, return_inverse=True)[1]
        self._cells = list(columns.cells)
        counts = [len(cells) for _, cells, _ in columns.parts]
        entry = np.repeat(np.array([number for number, _, _ in columns.parts], np.int32), counts)
        cell = np.concatenate([cells for _, cells, _ in columns.parts])
        # The values of a cell are next to each other.
        order = np.argsort(cell, kind="stable")
        self._entry, self._value = entry[order], np.concatenate([v for _, _, v in columns.parts])[order]
        self._ends = np.searchsorted(cell[order], np.arange(len(self._cells) + 1))

    @cached_property
    def by_group(self) -> dict[Group, dict[Measure, list[int]]]:
        """Numbers of the cells by group and measure; groups of most machines first."""
        import numpy as np

        found: defaultdict[Group, dict[Measure, list[int]]] = defaultdict(dict)
        for number, cell in enumerate(self._cells):
            found[cell.group].setdefault(cell.measure, []).append(number)

        def place(group: Group) -> tuple[object, ...]:
            entries = self._of([each for cells in found[group].values() for each in cells])
            data = suite_order(group.suite), group.place, group.rows
            machines = len(np.unique(self._machine[entries]))
            return -machines, *data, group.threads, query_order(group.query)

        groups = sorted(found, key=place)
        return {each: {m: found[each][m] for m in sorted_measures(found[each])} for each in groups}

    def _of(self, cells: Sequence[int]) -> NDArray[np.int32]:
        """Return the numbers of the entries that have values of some cells."""
        import numpy as np

        parts = [self._entry[self._ends[each] : self._ends[each + 1]] for each in cells]
        return np.unique(np.concatenate(parts))

    def of(self, group: Group, explain: set[Measure]) -> Iterator[Ranking]:
        """Yield the rankings of a group.

        Parameters
        ----------
        group : Group
            One of `by_group`.
        explain : set of Measure
            Measures whose turning pairs are explained.
        """
        for measure, cells in self.by_group[group].items():
            yield _ranked(group, measure, self.values(cells), explains=measure in explain)

    def values(self, cells: Sequence[int]) -> Values:
        """Return the values of some cells of one group and measure."""
        import numpy as np

        most = sorted(cells, key=lambda each: self._ends[each] - self._ends[each + 1])
        chosen = most[:MOST_CONFIGURATIONS]
        numbers = self._of(chosen)
        numbers = numbers[np.argsort(self._machine[numbers], kind="stable")]
        rows = np.full(len(self._entries), -1)
        rows[numbers] = np.arange(len(numbers))
        logs = np.full((len(numbers), len(chosen)), np.nan)
        for column, each in enumerate(chosen):
            part = slice(self._ends[each], self._ends[each + 1])
            logs[rows[self._entry[part]], column] = np.log(self._value[part])
        entries = [self._entries[each] for each in numbers]
        return Values(entries, [self._cells[each].configuration for each in chosen], logs)


def levels(logs: Floats) -> tuple[Floats, Floats]:
    """Return the levels of bundles, shape (rows,), and of configurations, shape (columns,).

    Medians are taken in turn, since some values are far off. The middle configuration has the level 0.
    """
    import numpy as np

    of_columns = np.zeros(logs.shape[1])
    for _ in range(_ALTERNATIONS):
        of_rows = np.nanmedian(logs - of_columns, axis=1)
        of_columns = np.nanmedian(logs - of_rows[:, None], axis=0)
        of_columns -= np.median(of_columns)
    return np.nanmedian(logs - of_columns, axis=1), of_columns


def _ranked(group: Group, measure: Measure, values: Values, *, explains: bool) -> Ranking:
    import numpy as np

    of_rows, of_columns = levels(values.logs)
    order = np.argsort(of_columns, kind="stable")
    configurations = [values.configurations[each] for each in order]
    values = Values(values.entries, configurations, values.logs[:, order])
    names = [each.machine for each in values.entries]
    starts = np.array([n for n, name in enumerate(names) if n == 0 or name != names[n - 1]])
    noise = _noise(values.entries, measure)
    ahead, leads = _ahead(values.logs, noise, starts)
    turning = np.triu(np.minimum(ahead, ahead.T))
    turning[turning <= _CHANCE * len(starts)] = 0
    divided = np.argwhere(turning)
    divided = divided[np.argsort(-turning[tuple(divided.T)], kind="stable")][:MOST_TURNS]

    def turn(one: int, other: int) -> Turn:
        pair = configurations[one], configurations[other]
        logs = values.logs[:, one] - values.logs[:, other]
        found = explained(group, values.entries, *pair, logs, noise) if explains else None
        return Turn(*pair, int(ahead[one, other]), int(ahead[other, one]), found)

    return Ranking(
        group,
        measure,
        rows=list(_rows(values, values.logs - of_rows[:, None] - of_columns[order[0]], leads, starts)),
        machines=len(starts),
        bundles=len(names),
        pairs=int(np.triu(ahead + ahead.T > 0).sum()),
        turning=int((turning > 0).sum()),
        turns=[turn(one, other) for one, other in divided],
        agreement=_agreement(values.logs),
    )


def _rows(values: Values, ratios: Floats, leads: Flags, starts: Places) -> Iterator[Row]:
    """Yield the rows of a ranking; `ratios` are logarithms, and the others are as in `_ahead`."""
    import numpy as np

    for column, configuration in enumerate(values.configurations):
        logs = values.logs[:, column]
        first_on = int(np.logical_or.reduceat(leads[:, column], starts).sum())
        spreads = _spread(ratios[:, column]), _spread(logs)
        yield Row(configuration, int(np.isfinite(logs).sum()), first_on, *spreads)


def _noise(entries: Sequence[Entry], measure: Measure) -> Floats:
    """Return the difference of logarithms that chance explains in each bundle."""
    import numpy as np

    if METRICS[measure.metric].noise in {Noise.SIZE, Noise.EXACT}:
        return np.full(len(entries), np.log1p(_SIZE_NOISE))
    known = [MOST_NOISE if each.facts.noise is None else each.facts.noise for each in entries]
    return np.log1p(np.array(known))


def _ahead(logs: Floats, noise: Floats, starts: Places) -> tuple[Places, Flags]:
    """Return on how many machines each configuration is ahead of each other one, and who leads where.

    Parameters
    ----------
    logs : numpy.ndarray
        Shape (bundles, configurations).
    noise : numpy.ndarray
        Shape (bundles,).
    starts : numpy.ndarray
        The first bundle of each machine.

    Returns
    -------
    numpy.ndarray
        Shape (configurations, configurations): machines with a bundle in which the first is ahead.
    numpy.ndarray
        Shape (bundles, configurations): whether no other one is ahead.
    """
    import numpy as np

    number = logs.shape[1]
    machines = np.zeros((number, number), np.int64)
    leads = np.isfinite(logs)
    for one in range(number):
        # Comparisons with NaN are false.
        is_ahead = logs - logs[:, [one]] > noise[:, None]
        leads &= ~is_ahead
        machines[one] = np.logical_or.reduceat(is_ahead, starts, axis=0).sum(axis=0)
    return machines, leads


def _spread(logs: Floats) -> Spread:
    import numpy as np

    return Spread(*map(float, np.exp(np.nanquantile(logs, _ENDS))))


def _agreement(logs: Floats) -> Spread | None:
    """Return Spearman's rho of the order of each bundle and that of the columns, which is typical."""
    import numpy as np
    from scipy.stats import rankdata  # type: ignore[import-untyped]

    found: list[Floats] = []
    # Bundles with the same configurations are ranked at once.
    patterns, kinds = np.unique(np.isfinite(logs), axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        if pattern.sum() >= FEWEST_RANKED:
            ranks = rankdata(logs[kinds.ravel() == number][:, pattern], axis=1)
            ranks -= ranks.mean(axis=1, keepdims=True)
            typical = np.arange(pattern.sum()) - (pattern.sum() - 1) / 2
            lengths = np.linalg.norm(ranks, axis=1) * np.linalg.norm(typical)
            found.append((ranks @ typical)[lengths > 0] / lengths[lengths > 0])
    rhos = np.concatenate(found) if found else np.array([])
    return Spread(*map(float, np.quantile(rhos, _ENDS))) if len(rhos) else None
