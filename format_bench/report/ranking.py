"""Rankings and verdict of a report, as sentences computed from its cells."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from adapter_core.errors import InvalidWeightError, NoCandidateError
from format_bench.recommendation import purposes, questions
from format_bench.recommendation.brief import brief_of
from format_bench.recommendation.card import text_of
from format_bench.recommendation.code import code_of
from format_bench.recommendation.scope import queries_left_out
from format_bench.report import losses_and_gaps
from format_bench.report.model import SuiteResults, results_by_suite
from format_bench.report.queries import mean_ratios, query_tables, ratios_to_best
from format_bench.report.turns import Turn, turns
from format_bench.results.candidates import Configuration
from format_bench.results.display.text import format_ratio, joined, plural, quantity
from format_bench.results.disturbance import TOO_NOISY, Disturbance
from format_bench.results.groups import ComparisonGroup
from format_bench.results.load import Results
from format_bench.results.marks import BEST, TIE, pareto_front
from format_bench.results.metrics import LEADERS, METRICS, Measure


@dataclass(frozen=True)
class Finding:
    """One sentence of a verdict."""

    subject: str
    """The topic, e.g. "Fastest to read, warm"."""
    lead: str
    """A name or a number, which is emphasised."""
    rest: str = ""
    """The rest of the sentence, from its first punctuation mark on."""
    code: str = ""
    """Code of the configuration that leads; empty if none does, or it has none."""
    card: str = ""
    """Its settings card; empty likewise."""

    def __str__(self) -> str:
        """Return the whole sentence."""
        return f"{self.subject}: {self.lead}{self.rest}."


@dataclass(frozen=True)
class Headline:
    """Start of a verdict: a warning, and which format to use."""

    banner: str
    """Sentences on a busy machine and on noise; empty without a reason to warn."""
    answer: list[Finding]
    """The answer in three lines, counting save time, read time, size and the mean time of a user's own
    questions alike, and a note if other queries were measured; empty if none."""

    @property
    def sentences(self) -> list[str]:
        """Both as sentences."""
        return [*filter(None, [self.banner]), *map(str, self.answer)]


def headline_of(results: Results) -> Headline:
    """Return the start of a verdict on results; times of a user's own questions count."""
    try:
        answer = questions.answered(results, purposes.Wish())
    except (InvalidWeightError, NoCandidateError) as error:
        # Of a run that asked questions, no answer would look like a forgotten one.
        said = [Finding("Use", "none", f": {error}")] if questions.are_asked(results) else []
        return Headline(Disturbance.of(results).banner, said)
    first, *others = [Finding(name, text) for name, text in brief_of(answer).lines]
    if not answer.is_undecided:
        winner = answer.first.candidate.configuration
        first = replace(first, code=code_of(winner), card=text_of(winner))
    left_out = [] if answer.asked else queries_left_out(results, answer.suite)
    notes = [Finding("Note", each) for each in left_out]
    return Headline(answer.disturbance.banner, [first, *others, *notes])


def findings(results: Results) -> list[str]:
    """Return the verdict on all suites, a sentence each."""
    return verdict(results_by_suite(results))


def verdict(suites: list[SuiteResults]) -> list[str]:
    """Return the verdict on some suites; of several, each sentence names its."""
    return [
        f"{f'{suite.title}: ' if len(suites) > 1 else ''}{each}"
        for suite in suites
        for each in findings_on(suite)
    ]


def findings_on(suite: SuiteResults) -> list[Finding]:
    """Return the verdict on a suite: the best of each ranked metric, losses and empty cells.

    Samples, which few configurations were measured beside, do not count.
    """
    suite = suite.without_samples
    ahead = [*_best(suite), *_unbeaten(suite), *_best_of_queries(suite)]
    if not ahead:
        ahead = [Finding("Nothing to rank", "no metric that is ranked has two values that differ")]
    return [*ahead, *_turned(suite), *_losses(suite), *_empty_cells(suite)]


def _best(suite: SuiteResults) -> Iterator[Finding]:
    for metric in LEADERS:
        for measure in suite.measures:
            # Of random reads only the warm ones: cold ones measure the disk more than the format.
            is_ranked = measure.metric == metric.name and (
                measure.cache != "cold" or metric.name == "read time"
            )
            ranking = ranking_of(suite, measure) if is_ranked else None
            if not ranking:
                continue
            cache = f", {measure.cache}" if metric.unit == "seconds" and measure.cache else ""
            if ranking.is_too_noisy:
                names = joined([ranking.leader, *ranking.ties(ranking.leader)])
                rest = f"; candidates are {names}"
                yield Finding(metric.leader + cache, "too noisy to name a winner", rest)
            else:
                leader, rest = ranking.leader, describe_rest(ranking)
                shown = code_of(leader), text_of(leader)
                yield Finding(metric.leader + cache, str(leader), rest, *shown)


def _unbeaten(suite: SuiteResults) -> Iterator[Finding]:
    for read in suite.measures:
        if read.metric != "read time" or read.cache == "cold":
            continue
        points = (points_of(group, read) for group in suite.groups)
        fronts = [pareto_front(each) for each in points if len(each) > 1]
        times = Counter(each for front in fronts for each in front)
        ordered = sorted(times, key=lambda each: (-times[each], each.sort_key))
        names = [f"{each} (on {times[each]})" if len(fronts) > 1 else str(each) for each in ordered]
        if names:
            yield Finding(f"Not beaten in both size and {read}", joined(names, most=8))


def _best_of_queries(suite: SuiteResults) -> Iterator[Finding]:
    leaders = {each.name: each.leader for each in LEADERS}
    for table in (each for group in suite.groups for each in query_tables(group)):
        found = table.leaders() if table.measure.metric in leaders else None
        if found:
            subject = leaders[table.measure.metric]
            rest = table.title.partition(": ")[2]
            cache = f", {table.measure.cache}" if table.measure.cache else ""
            yield Finding(f"{subject}{cache} ({rest})", *found)


def _turned(suite: SuiteResults) -> Iterator[Finding]:
    """Yield a finding for each measure whose order of two configurations depends on a condition."""
    by_measure: dict[tuple[str, str], list[Turn]] = {}
    for turn in turns(suite):
        by_measure.setdefault((turn.axis, turn.measure._replace(query="").phrase), []).append(turn)
    for (axis, phrase), found in by_measure.items():
        first, more = found[0], len(found) - 1
        rest = f": {first.one} is ahead on {first.places(first.one_ahead)}, {first.other} on "
        rest += first.places(first.other_ahead)
        rest += f"; {plural(more, 'further pair')}" if more else ""
        yield Finding(f"Turned around by the {axis}, {phrase}", f"{first.one} and {first.other}", rest)


def _losses(suite: SuiteResults) -> Iterator[Finding]:
    wrong, lossy = losses_and_gaps.wrong(suite), losses_and_gaps.lossy(suite)
    exact = losses_and_gaps.exact(suite)
    if wrong:
        names = [f"{each} on {joined(groups)}" for each, groups in wrong.items()]
        yield Finding("Came back with wrong values", joined(names), "; their cells there are empty")
    if lossy:
        rest = f"; {len(exact)} of {len(suite.configurations)} gave everything back exactly"
        yield Finding("Lost something", joined(lossy, most=8), rest)
    elif exact:
        everyone = exact == suite.configurations and len(exact) > 1
        yield Finding("Gave back exactly", f"all {len(exact)}" if everyone else joined(exact, most=8))


def _empty_cells(suite: SuiteResults) -> Iterator[Finding]:
    by_status: Counter[str] = Counter()
    for gap in losses_and_gaps.gaps(suite):
        by_status[gap.status] += gap.cells
    if by_status:
        kinds = ", ".join(f"{number} {status}" for status, number in by_status.items())
        share = f"{by_status.total()} of {losses_and_gaps.total(suite)} cells"
        yield Finding("Without a value", share, f": {kinds}")


@dataclass(frozen=True)
class Ranking:
    """The groups where a measure has a best value, and the marks in each."""

    measure: Measure
    groups: list[ComparisonGroup]
    marks: list[dict[Configuration, str]]
    """As `ComparisonGroup.marks` returns them, by group."""

    @property
    def is_too_noisy(self) -> bool:
        """Whether noise may well turn the order around in another run."""
        cells = (each.cell(name, self.measure) for each in self.groups for name in each.configurations)
        known = [each.noise for each in cells if each.noise is not None]
        return bool(known) and statistics.median(known) > TOO_NOISY and bool(self.ties(self.leader))

    @property
    def leader(self) -> Configuration:
        """The configuration that is the best most often; of equals the one that ties more often."""
        best, ties = (Counter(self._marked(mark, self.marks)) for mark in (BEST, TIE))
        return min(best, key=lambda each: (-best[each], -ties[each], each.sort_key))

    def share(self, leader: Configuration) -> str:
        """Return in words the number of groups that a configuration leads."""
        number, count = sum(each.get(leader) == BEST for each in self.marks), len(self.groups)
        distinct = len({group.dataset for group in self.groups}) == count
        things = "data sets" if distinct else "comparisons"
        if number == count:
            return f"both {things}" if count == 2 else f"all {count} {things}"  # noqa: PLR2004 (both are two)
        return f"{number} of {count} {things}"

    def ties(self, leader: Configuration) -> dict[Configuration, int]:
        """Return the configurations that tie with the leader, with the number of groups."""
        # Equal values are both the best, so the other one may be marked as the best, too.
        led = [{**each, leader: ""} for each in self.marks if each.get(leader) == BEST]
        tied = [each for each in self.marks if each.get(leader) == TIE]
        return Counter(self._marked(BEST, led) + self._marked(TIE, led) + self._marked(BEST, tied))

    def elsewhere(self, leader: Configuration) -> dict[Configuration, int]:
        """Return the best of the groups where the leader is behind, with the number of groups."""
        return Counter(self._marked(BEST, [each for each in self.marks if not each.get(leader)]))

    @staticmethod
    def _marked(mark: str, marks: list[dict[Configuration, str]]) -> list[Configuration]:
        return [name for each in marks for name, found in each.items() if found == mark]


def ranking_of(suite: SuiteResults, measure: Measure) -> Ranking | None:
    """Return the ranking in a measure; None if no group has two values that differ."""
    marked = [(group, group.marks(measure)) for group in suite.groups]
    ranked = [(group, marks) for group, marks in marked if BEST in marks.values()]
    if not ranked:
        return None
    return Ranking(measure, [group for group, _ in ranked], [marks for _, marks in ranked])


def describe_rest(ranking: Ranking) -> str:
    """Return the end of a sentence on the leader: its value or data sets, ties, and the last one."""
    leader, count = ranking.leader, len(ranking.groups)
    elsewhere, ties = ranking.elsewhere(leader), ranking.ties(leader)
    where = f"on {ranking.share(leader)}" if count > 1 else _value(ranking, leader)
    parts = [f", {where}"]
    if ties:
        parts.append(f"ties with {_names(ties, with_numbers=count > 1)}")
    if elsewhere:
        parts.append(f"elsewhere {_names(elsewhere, with_numbers=True)}")
    return "; ".join([*parts, *_last(ranking)])


def _value(ranking: Ranking, leader: Configuration) -> str:
    cell = ranking.groups[0].cell(leader, ranking.measure)
    return quantity(cell.value or 0, cell.unit)


def _names(numbers: dict[Configuration, int], *, with_numbers: bool) -> str:
    ordered = sorted(numbers, key=lambda each: (-numbers[each], each.sort_key))
    return joined([f"{each} on {numbers[each]}" if with_numbers else each for each in ordered])


def _last(ranking: Ranking) -> list[str]:
    """Return the distance of the last one from the best, if there is a mean ratio."""
    ratios = ratios_everywhere(ranking.groups, ranking.measure)
    if not ratios:
        return []
    last = max(ratios, key=lambda each: ratios[each])
    verb = METRICS[ranking.measure.metric].comparison.format(format_ratio(ratios[last]))
    mean = " (geometric mean)" if len(ranking.groups) > 1 else ""
    return [f"{last} {verb} as the best{mean}"]


def ratios_everywhere(groups: Iterable[ComparisonGroup], measure: Measure) -> dict[Configuration, float]:
    """Return the geometric means over groups, of the configurations that have a ratio in each."""
    found = [each for group in groups if (each := ratios_to_best(group.values(measure)))]
    # Means over different data sets would not compare.
    means = sorted(mean_ratios(found).items(), key=lambda item: item[0].sort_key)
    return {each: mean.value for each, mean in means if mean.queries == len(found)}


Points = dict["Configuration", tuple[float, float]]


def points_of(group: ComparisonGroup, read: Measure) -> Points:
    """Return size and read time of the configurations that have both."""
    sizes, seconds = group.values(Measure("size")), group.values(read)
    return {each: (sizes[each], seconds[each]) for each in sizes if each in seconds}
