"""Losses, empty cells and remarks of a suite's results."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from format_bench.report.model import SuiteResults
from format_bench.results.candidates import Configuration
from format_bench.results.display.text import plural
from format_bench.results.groups import ComparisonGroup
from format_bench.results.metrics import Measure
from format_bench.results.status import WRONG
from format_bench.results.suites import FAMILIES

COUNTED = tuple(dict.fromkeys(Measure(each.loss) for each in FAMILIES.values()))
"""The measures that count losses; without a value of any, nothing is known of losses."""


@dataclass(frozen=True)
class Loss:
    """A loss of a configuration, with the groups that share it."""

    configuration: Configuration
    groups: list[str]
    """Names of groups."""
    words: str

    @property
    def is_of_values(self) -> bool:
        """Whether values came back changed, as of a lossy codec."""
        return bool(self.configuration.loss)


def losses(suite: SuiteResults) -> list[Loss]:
    """Return the losses of configurations, none of which is an error, sorted."""
    found: dict[tuple[Configuration, str], list[str]] = {}
    for group in suite.groups:
        for measure in COUNTED:
            for configuration, value in group.values(measure).items():
                if value:
                    cell = group.cell(configuration, measure)
                    words = _summary(cell.sentence) or f"{value:g} {cell.unit}"
                    found.setdefault((configuration, words), []).append(group.name)
        for configuration, words in group.losses.items():
            if not any(group.cell(configuration, each).value for each in COUNTED):
                found.setdefault((configuration, words), []).append(group.name)
    in_order = sorted(found.items(), key=lambda item: item[0][0].sort_key)
    return [Loss(configuration, groups, words) for (configuration, words), groups in in_order]


def _summary(sentence: str) -> str:
    """Return kinds of loss, each with its number of columns, for a list of losses of columns."""
    # Verdicts name each column: "column a: text came back as bytes; column b: ...".
    kinds: Counter[str] = Counter()
    for loss in filter(None, sentence.split("; ")):
        _, colon, kind = loss.partition(": ")
        kinds[kind if loss.startswith("column ") and colon else loss] += 1
    return "; ".join(kind if n == 1 else f"{kind} (in {n} columns)" for kind, n in kinds.items())


def no_loss(suite: SuiteResults) -> str:
    """Return a sentence for a suite without losses."""
    if exact(suite):
        return "What came back was compared with what was saved; nothing was lost."
    return "The results do not say whether anything was lost."


def exact(suite: SuiteResults) -> list[Configuration]:
    """Return the configurations that were verified and lost nothing in any group."""
    return [each for each in suite.configurations if _counts(each, suite) == {0}]


def lossy(suite: SuiteResults) -> list[Configuration]:
    """Return the configurations that lost something."""
    return [each for each in suite.configurations if _counts(each, suite) - {0}]


def _counts(configuration: Configuration, suite: SuiteResults) -> set[float]:
    counts = (group.cell(configuration, each).value for group in suite.groups for each in COUNTED)
    return {count for count in counts if count is not None}


def wrong(suite: SuiteResults) -> dict[Configuration, list[str]]:
    """Return the names of the groups where a configuration returned wrong values."""
    found = {each: [g.name for g in suite.groups if _is_wrong(g, each)] for each in suite.configurations}
    return {configuration: names for configuration, names in found.items() if names}


def _is_wrong(group: ComparisonGroup, configuration: Configuration) -> bool:
    cells = (group.cell(configuration, measure) for measure in _all_measures(group))
    return any(cell.value is None and WRONG.strip() in cell.sentence for cell in cells)


@dataclass(frozen=True)
class Gap:
    """Empty cells of a configuration that have the same reason."""

    configuration: Configuration
    groups: list[str]
    """Names of groups."""
    measures: list[Measure]
    """The measures without a value in each of the groups."""
    everything: bool
    """Whether these are all measures of the groups."""
    status: str
    sentence: str

    @property
    def cells(self) -> int:
        """The number of cells."""
        return len(self.groups) * len(self.measures)

    @property
    def what(self) -> str:
        """The measures in words."""
        return "everything" if self.everything else "; ".join(_in_words(self.measures))


def _in_words(measures: Iterable[Measure]) -> Iterator[str]:
    """Yield names of measures, together for the same queries, e.g. "query time, warm: Q1 to Q3"."""
    queries: dict[Measure, list[str]] = {}
    for each in measures:
        queries.setdefault(each._replace(query=""), []).append(each.query)
    together: dict[str, list[str]] = {}
    for measure, names in queries.items():
        together.setdefault(" ".join(_ranges(names)), []).append(str(measure))
    for names_of_queries, of_measures in together.items():
        text = "; ".join(of_measures)
        yield f"{text}: {names_of_queries}" if names_of_queries else text


def _ranges(names: list[str]) -> Iterator[str]:
    """Yield names of queries in order, three and more consecutive numbers as a range."""
    runs: list[list[str]] = []
    for name in names:
        start, number = _split(runs[-1][-1]) if runs else ("", None)
        follows = number is not None and _split(name) == (start, number + 1)
        if follows:
            runs[-1].append(name)
        else:
            runs.append([name])
    for run in runs:
        if len(run) < _FEWEST_OF_RANGE:
            yield from run
        else:
            yield f"{run[0]} to {run[-1]}"


# Two names are as short as a range.
_FEWEST_OF_RANGE = 3


def _split(name: str) -> tuple[str, int | None]:
    """Return the name of a query without the number at its end, and that number if there is one."""
    digits = re.search(r"\d*$", name)
    number = digits[0] if digits else ""
    return name.removesuffix(number), int(number) if number else None


def _all_measures(group: ComparisonGroup) -> list[Measure]:
    return [*group.measures, *group.query_measures]


def gaps(suite: SuiteResults) -> list[Gap]:
    """Return the gaps of a suite, sorted by configuration; also cells without a record."""
    found: dict[tuple[Configuration, str, str, tuple[Measure, ...], bool], list[str]] = {}
    for group in suite.groups:
        for key in _gaps_of_group(group, suite.configurations):
            found.setdefault(key, []).append(group.name)
    in_order = sorted(found.items(), key=lambda item: item[0][0].sort_key)
    return [
        Gap(configuration, groups, list(measures), everything, status, sentence)
        for (configuration, status, sentence, measures, everything), groups in in_order
    ]


def _gaps_of_group(
    group: ComparisonGroup, configurations: list[Configuration]
) -> Iterator[tuple[Configuration, str, str, tuple[Measure, ...], bool]]:
    for configuration in configurations:
        reasons: dict[tuple[str, str], list[Measure]] = {}
        for measure in _all_measures(group):
            cell = group.cell(configuration, measure)
            if cell.value is None:
                reasons.setdefault((cell.status, cell.sentence), []).append(measure)
        for (status, sentence), measures in reasons.items():
            yield configuration, status, sentence, tuple(measures), measures == _all_measures(group)


def total(suite: SuiteResults) -> int:
    """Return the number of cells of a suite, with and without values."""
    return sum(len(suite.configurations) * len(_all_measures(group)) for group in suite.groups)


def not_run(group: ComparisonGroup, suite: SuiteResults) -> list[Configuration]:
    """Return the configurations without any record in a group."""
    return [each for each in suite.configurations if each not in set(group.configurations)]


# Number of cells that a remark names; the CSV contains all.
_SHOWN = 3


_NUMBER_OF_VALUES = re.compile(r"^[\d,]+ values, (?=all equal)")


@dataclass(frozen=True)
class Remark:
    """A sentence and the cells it applies to."""

    sentence: str
    cells: list[str]
    """Names of cells, e.g. "CSV, save time (eq)"."""

    @property
    def places(self) -> str:
        """The first cells, and the number of the others."""
        others = len(self.cells) - _SHOWN
        more = [plural(others, "other")] if others > 0 else []
        return "; ".join([*self.cells[:_SHOWN], *more])


def remarks(suite: SuiteResults) -> list[Remark]:
    """Return the remarks on values, other than losses, each sentence once."""
    found: dict[str, list[str]] = {}
    for group in suite.groups:
        for (configuration, measure), cell in group.cells.items():
            if cell.value is not None and cell.sentence and measure not in COUNTED:
                place = f"{configuration}, {measure} ({group.name})"
                # Answers differ in their number of values alone.
                sentence = _NUMBER_OF_VALUES.sub("", cell.sentence)
                found.setdefault(sentence, []).append(place)
    return [Remark(sentence, cells) for sentence, cells in found.items()]


def rows_of_losses(suites: Sequence[SuiteResults]) -> list[list[str]]:
    """Return a row for each loss of some suites: title, configuration, data sets, the loss."""
    return [
        [suite.title, str(each.configuration), ", ".join(each.groups), each.words]
        for suite in suites
        for each in losses(suite)
    ]


def rows_of_gaps(suites: Sequence[SuiteResults]) -> list[list[str]]:
    """Return a row for each gap: title, configuration, data sets, measures, status, reason."""
    return [
        [
            *(suite.title, str(each.configuration), ", ".join(each.groups)),
            *(each.what, each.status, each.sentence),
        ]
        for suite in suites
        for each in gaps(suite)
    ]
