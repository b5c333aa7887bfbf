"""Answer in three lines: the format to use, its reason, and another one with its condition."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from adapter_core.adapter import engine_of
from format_bench.recommendation import code
from format_bench.recommendation.questions import MEASURES
from format_bench.recommendation.recommend import Ranked, Recommendation
from format_bench.recommendation.scope import OwnFile
from format_bench.recommendation.scoring import ESTIMATES, PREDICTIONS, READ_TIME, SAVE_TIME, SIZE
from format_bench.recommendation.sensitivity import break_even_of, smallest_change_for
from format_bench.results.adapter_facts import facts_of
from format_bench.results.candidates import Candidate
from format_bench.results.display.text import format_ratio, joined, quantity
from format_bench.results.metrics import Measure
from format_bench.results.suites import FAMILIES, family_of_suite
from format_bench.verification.arrays import LOST

# Names in one line.
SHOWN = 5

# Values that are said to be the same: a reader cares for no difference below.
_SAME = 0.01


@dataclass(frozen=True)
class Brief:
    """The three lines, each a sentence without its first word."""

    use: str
    because: str
    otherwise: str
    """The line *Or*."""
    left_out: str = ""
    """A further line, *Not*: what did not answer each of the user's own questions."""

    @property
    def lines(self) -> list[tuple[str, str]]:
        """The lines with their first words."""
        named = [("Use", self.use), ("Because", self.because), ("Or", self.otherwise)]
        named.append(("Not", self.left_out))
        return [(name, text) for name, text in named if text]


def brief_of(answer: Recommendation) -> Brief:
    """Return a recommendation in three lines."""
    if answer.is_undecided:
        names = joined([answer.first.candidate.name, *_names(answer.ties)], most=SHOWN)
        noise = answer.disturbance.noise_text
        how = (
            f"two runs differ by {noise} in the median cell"
            if noise
            else "every range reaches all others"
        )
        return Brief(
            f"no winner: too noisy to name one; candidates are {names}",
            how,
            "repeat this on an idle machine",
            _left_out(answer),
        )
    if answer.is_tiny:
        text = "a table of so few rows is read at once from any format, and people can read CSV as it is"
        name = answer.first.candidate.name
        return Brief(f"{name}: any format does", text, _for_types(answer), _left_out(answer))
    name = answer.first.candidate.name
    if answer.noise == ESTIMATES:
        name += ", by estimates from samples"
    elif answer.noise == PREDICTIONS:
        name += ", predicted from other tables"
    elif len(answer.ranked) == 1 and answer.unmeasured:
        name += ", the only one measured on all rows so far"
    several = len(answer.datasets)
    together = f", on {several} data sets together" if several > 1 else ""
    lost, facts = _lost(answer), answer.first.candidate.configuration
    lazy = facts_of(family_of_suite(answer.suite).name, facts.format).lazy
    remarks = [lost and f"it loses {lost}", lazy and f"its read leaves work: {lazy}"]
    use = "; ".join([name, *filter(None, remarks)])
    return Brief(use, ", ".join(_values(answer)) + together, _or(answer), _left_out(answer))


def _left_out(answer: Recommendation) -> str:
    """Return what lacks a time of the user's own questions, the first with its reason."""
    if not answer.asked:
        return ""
    lacking: dict[str, str] = {}
    for each in answer.excluded:
        for (_, measure), record in each.candidate.cells.items():
            if measure in answer.weights and measure in MEASURES and record.value is None:
                lacking.setdefault(each.candidate.name, f"{record.status}, {record.sentence}")
    if not lacking:
        return ""
    names = joined(lacking, most=SHOWN)
    first, why = next(iter(lacking.items()))
    reason = f"; {first}: {why}" if len(lacking) > 1 else f": {why}"
    return f"{names}, which did not answer every question{reason}"


def _lost(answer: Recommendation) -> str:
    """Return the properties of an array that the first one has lost, e.g. "coordinates"."""
    loss = Measure(family_of_suite(answer.suite).loss)
    records = (answer.first.candidate.cells.get((each, loss)) for each in answer.datasets)
    parts = [part for each in records if each and each.value for part in each.sentence.split("; ")]
    lost = dict.fromkeys(part.partition(LOST)[0] for part in parts if LOST in part)
    return joined(lost, most=None) if lost else ""


def _names(ranked: list[Ranked]) -> list[str]:
    return [each.candidate.name for each in ranked]


def _for_types(answer: Recommendation) -> str:
    others = [each for each in answer.ranked[1:] if each.candidate.configuration.format == "Parquet"]
    return "Parquet, if types must be kept" if others else ""


def _values(answer: Recommendation) -> Iterator[str]:
    """Yield the values of the first one, beside the user's file or the best of the others."""
    first, own = answer.first.candidate, answer.own
    measures = dict.fromkeys([SIZE, READ_TIME, *answer.weights])
    for measure in measures:
        value = total(first, answer, measure)
        if value is None:
            continue
        text = _PHRASES.get(measure, f"{measure.phrase} {{}}").format(_with_unit(value, measure))
        before, source = _before(own, answer, measure)
        if before is not None and abs(before - value) > _SAME * before:
            text += f" instead of {_with_unit(before, measure)}{source}"
        elif before is None:
            text += _beside_others(answer, measure)
        is_mix = answer.asked and measure in MEASURES
        yield f"{text}, {answer.asked}" if is_mix else text


_PHRASES = {
    SIZE: "{}",
    READ_TIME: "reads in {}",
    SAVE_TIME: "saves in {}",
    Measure("read time", "cold"): "reads in {} from the disk",
    Measure("durable save time"): "saves durably in {}",
    MEASURES[0]: "answers a question in {}",
    MEASURES[1]: "answers a question in {} from the disk",
}


def _with_unit(value: float, measure: Measure) -> str:
    return quantity(value, measure.unit)


def _before(own: OwnFile | None, answer: Recommendation, measure: Measure) -> tuple[float | None, str]:
    """Return the value of the user's own file, or of the format of such files, with its source."""
    if own is None:
        return None, ""
    if measure == SIZE and own.size_bytes is not None:
        return own.size_bytes, ""
    if own.baseline is None:
        return None, ""
    value = total(own.baseline, answer, measure)
    cells = (own.baseline.cells.get((each, measure)) for each in answer.datasets)
    is_estimate = any(each and each.sentence.startswith("estimated from") for each in cells)
    source = f" as {own.baseline.name}" + (", estimated" if is_estimate else "")
    return value, source if value is not None else ""


def _beside_others(answer: Recommendation, measure: Measure) -> str:
    ratio = answer.first.ratios.get(measure)
    if len(answer.ranked) == 1 or ratio is None:
        return ""
    return " (best)" if ratio < 1 + _SAME else f" ({format_ratio(ratio)} times the best)"


def total(candidate: Candidate, answer: Recommendation, measure: Measure) -> float | None:
    """Return the sum of a candidate's values over all data sets that count; None if one is missing."""
    found = [candidate.value(each, measure) for each in answer.datasets]
    known = [each for each in found if each is not None]
    return sum(known) if known and len(known) == len(found) else None


def runner_up(answer: Recommendation) -> Ranked | None:
    """Return the second candidate, or the one that a change of a weight puts first; None if alone."""
    if len(answer.ranked) == 1:
        return None
    second, change = answer.ranked[1], answer.change
    if change is None or list(_when(answer, second)):
        return second
    return next(each for each in answer.ranked if each.candidate.name == change.name)


_TIES = {
    ESTIMATES: "samples cannot tell them apart",
    PREDICTIONS: "a prediction cannot tell them apart",
}


def _or(answer: Recommendation) -> str:
    if (second := runner_up(answer)) is None:
        first = answer.first.candidate.configuration
        names = joined((each for each in answer.unmeasured if each != first), most=SHOWN)
        return f"not yet measured on all rows: {names}" if names else ""
    tie = ""
    if second.ties:
        tie = _TIES.get(answer.noise, "as good within noise")
    clauses = [tie, *_when(answer, second)]
    text = "; ".join(filter(None, clauses)) or "second, whatever counts more"
    speed = _break_even(answer, second)
    return f"{second.candidate.name}: {text}" + (f". {speed}" if speed else "")


def _when(answer: Recommendation, other: Ranked) -> Iterator[str]:
    """Yield the change of a weight that puts another candidate first, if there is one."""
    name = other.candidate.name
    logs = {each.candidate.name: each.logs for each in answer.ranked}
    change = smallest_change_for(name, logs, answer.weights)
    if change:
        factor = change.weight / answer.weights[change.measure]
        comparison = "more than" if factor >= 1 else "less than"
        much = f"{comparison} {format_ratio(factor)} times as much"
        yield f"first if {change.measure.phrase} counts {much}"


def _break_even(answer: Recommendation, other: Ranked) -> str:
    found = break_even_of(answer.first.candidate, other.candidate)
    if not found or not found.bytes_per_second:
        return ""
    speed = quantity(found.bytes_per_second, "bytes")
    return f"Below {speed}/s {subject(found.smaller)} arrives first; above, {found.other}"


def subject(name: str) -> str:
    """Return a name before its verb: one with a comma in it needs another at its end."""
    return f"{name}," if ", " in name else name


class PastedCode(NamedTuple):
    """Code that writes and reads as recommended, and the command that prints it."""

    command: str
    text: str


def pasted_code(answer: Recommendation) -> PastedCode | None:
    """Return the code of the first candidate; None if no winner is named, or its adapter has none."""
    facts, family = answer.first.candidate.configuration, family_of_suite(answer.suite)
    if answer.is_undecided or facts.settings or facts.track or facts.error_bound:
        return None
    text = code.code_of(facts)
    if not text:
        return None
    codec = facts.codec and (facts.codec if facts.level is None else f"{facts.codec}:{facts.level}")
    words = ["format-bench", "show", facts.format, "--code", *(["--codec", codec] if codec else [])]
    words += [] if family.name == next(iter(FAMILIES)) else ["--family", family.name]
    return PastedCode(shlex.join(words), text)


def to_json(answer: Recommendation) -> dict[str, Any]:
    """Return the three lines as JSON values, with the numbers in them."""
    found, first = brief_of(answer), answer.first.candidate
    facts = first.configuration
    use = None
    if not answer.is_undecided:
        use = {
            "name": first.name,
            "format": facts.format,
            "engine": engine_of(facts.format) or None,
            "codec": facts.codec,
            "level": facts.level,
            "settings": facts.settings or None,
        }
    own = answer.own
    before: dict[str, Any] = {}
    if own is not None:
        before = {"file": own.name, "bytes": own.size_bytes}
        if own.baseline is not None:
            read = total(own.baseline, answer, READ_TIME)
            before |= {"format": own.baseline.name, "read_seconds": read}
    second = runner_up(answer)
    values = {each.option: total(first, answer, each) for each in (SIZE, READ_TIME, *answer.weights)}
    return {
        "use": use,
        "because": {"values": values, "own_file": before or None},
        "or": second and {"name": second.candidate.name, "ties": second.ties},
        "code": (pasted := pasted_code(answer)) and pasted._asdict(),
        "text": dict(found.lines),
    }
