"""Data of the chooser, the ranking by weights and requirements that readers change in a page.

A script in the page computes the same as `recommend`, from a compact copy of the values: chooser.js
beside the templates of the report, with the translation of `formulas`. All that is not arithmetic comes
from here: names, the answers of candidates to requirements, presets as far as results can answer them,
and the bands of values.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from adapter_core.errors import NoCandidateError
from adapter_core.text import printable
from format_bench.recommendation import output
from format_bench.recommendation.card import text_of
from format_bench.recommendation.code import code_of
from format_bench.recommendation.purposes import BALANCED, PRESETS, criteria_of
from format_bench.recommendation.questions import AskedQuestions, missing
from format_bench.recommendation.recommend import Recommendation, choose
from format_bench.recommendation.requirements import MEANINGS, Requirement, answer, usual_requirements
from format_bench.recommendation.scope import Scope, further_candidates, of_dataset, one_suite, suites_in
from format_bench.recommendation.scoring import (
    BYTES_PER_MEGABYTE,
    READ_TIME,
    SAVE_TIME,
    SIZE,
    Bands,
    shift_of,
)
from format_bench.results.candidates import Candidate, DatasetSize
from format_bench.results.disturbance import Disturbance
from format_bench.results.load import Results
from format_bench.results.metrics import METRICS, Measure
from format_bench.results.records import Record
from format_bench.results.suites import family_of_suite, item_of, title_of

# Speeds that a reader may choose without knowing them, in MB/s.
SPEEDS = {"100 Mbit/s": 12.5, "1 Gbit/s": 125, "10 Gbit/s": 1250}

# Significant digits of values: scores differ from scores of all digits by less than 1e-10. Ends of
# intervals need fewer, since nothing but their order counts.
_DIGITS, _DIGITS_OF_ENDS = 11, 6


@dataclass(frozen=True)
class Chooser:
    """Parts of a page: the data for its script, and an answer for readers without scripts."""

    first: Recommendation | None
    """The answer without preset and requirements, on all data sets of the first suite; None if no
    candidate has all values."""
    explanation: str
    """That answer in words, or the reason why there is none."""
    too_noisy: bool
    """Whether noise forbids to name a winner among ties."""
    data: str
    """The values of all suites as JSON, in a form that may be put into a script element."""


def chooser_of(results: Results) -> Chooser | None:
    """Return the chooser of results; None if no suite has two candidates that can be ranked."""
    wholes = (one_suite(results, (), name) for name in suites_in(results))
    # A choice needs two, and something that counts.
    choices = [each for each in wholes if each.candidates[1:] and criteria_of(BALANCED, each).weights]
    if not choices:
        return None
    too_noisy = Disturbance.of(results).is_too_noisy
    data = {
        "results": printable(results.name),
        "too_noisy": too_noisy,
        "transfers": {"read": READ_TIME.option, "save": SAVE_TIME.option, "size": SIZE.option},
        "megabyte": BYTES_PER_MEGABYTE,
        "speeds": SPEEDS,
        "requirements": {str(each): meaning for each, meaning in MEANINGS.items()},
        "presets": {name: each.purpose for name, each in PRESETS.items()},
        "suites": [_suite(results, each) for each in choices],
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # The element would end at "</script".
    return Chooser(*_default(choices[0]), too_noisy, text.replace("<", "\\u003c"))


def _default(scope: Scope) -> tuple[Recommendation | None, str]:
    try:
        found = choose(scope, criteria_of(BALANCED, scope).weights, usual_requirements(scope.candidates))
    except NoCandidateError as error:
        return None, str(error)
    return found, output.paragraph(found)


def _suite(results: Results, whole: Scope) -> dict[str, Any]:
    name = whole.suite
    asked = AskedQuestions.of(results, name)
    measures = [*whole.own_measures, *asked.measures]
    table = _Table(name, whole.datasets, measures, whole.bands, asked)
    # Else each data set would have entries of its own for them.
    for each in further_candidates(results, whole):
        table.number(each)
    scopes = [table.scope(whole, None)]
    names = list(dict.fromkeys(each.dataset for each in table.datasets))
    if len(names) > 1:
        parts = ((each, one_suite(of_dataset(results, each), (), name)) for each in names)
        scopes += [table.scope(part, each) for each, part in parts]
    # All data sets of a suite have the same presets, as a rule.
    for scope in scopes[1:]:
        if scope["presets"] == scopes[0]["presets"]:
            del scope["presets"]
    return {
        "name": name,
        "title": printable(title_of(name)),
        "item": item_of(name),
        "datasets": [[printable(each.dataset), each.rows] for each in table.datasets],
        "measures": [_measure(each) | {"mixed": each in asked.measures} for each in table.measures],
        "read": _place(table.measures, READ_TIME),
        "loss": _place(table.measures, Measure(family_of_suite(name).loss)),
        "questions": asked.names,
        "entries": table.entries,
        "sentences": list(table.sentences),
        "scopes": scopes,
    }


def _place(measures: list[Measure], measure: Measure) -> int | None:
    return measures.index(measure) if measure in measures else None


def _measure(measure: Measure) -> dict[str, Any]:
    # Of random reads only the warm ones: cold ones measure the disk more than the format.
    is_warm = measure.cache != "cold" or measure.metric == "read time"
    return {
        "option": measure.option,
        "phrase": measure.phrase,
        "unit": measure.unit,
        "shift": shift_of(measure),
        # The others are folded.
        "main": bool(METRICS[measure.metric].leader) and is_warm,
    }


@dataclass
class _Table:
    """Values of a suite, each once, however many choices of data sets have it."""

    suite: str
    datasets: list[DatasetSize]
    measures: list[Measure]
    bands: Bands
    asked: AskedQuestions
    entries: list[dict[str, Any]] = field(default_factory=list)
    sentences: dict[str, int] = field(default_factory=dict)
    """Numbers of sentences, which many cells share."""
    candidates: list[Candidate] = field(default_factory=list)
    """The candidate of each entry."""

    def scope(self, scope: Scope, dataset: str | None) -> dict[str, Any]:
        """Return one choice of data sets: one of them, or all if none is named."""
        purposes = {"": BALANCED} | PRESETS
        criteria = {name: criteria_of(each, scope) for name, each in purposes.items()}
        measured = [*scope.own_measures, *self.asked.measures]
        usual = usual_requirements(scope.candidates)
        return {
            "dataset": dataset and printable(dataset),
            "datasets": [self.datasets.index(each) for each in scope.datasets],
            "entries": [self.number(each) for each in scope.candidates],
            "measures": [self.measures.index(each) for each in measured],
            "presets": {
                name: [
                    {measure.option: weight for measure, weight in each.weights.items()},
                    [*usual, *each.requirements],
                ]
                for name, each in criteria.items()
                if each.weights
            },
        }

    def number(self, candidate: Candidate) -> int:
        """Return the number of the candidate's entry, which is added if there is none with its cells."""
        for number, known in enumerate(self.candidates):
            same = known.configuration == candidate.configuration
            if same and candidate.cells.items() <= known.cells.items():
                return number
        self.candidates.append(candidate)
        self.entries.append(
            {
                "name": candidate.name,
                "code": code_of(candidate.configuration),
                "card": text_of(candidate.configuration),
                "cells": [self._cells(candidate, each) for each in self.datasets],
                "answers": {
                    str(each): self._answer(each, candidate, self.datasets)
                    for each in Requirement
                    if each is not Requirement.EXACT
                },
                "exact": [self._answer(Requirement.EXACT, candidate, [each]) for each in self.datasets],
            }
        )
        return len(self.entries) - 1

    def _answer(
        self, requirement: Requirement, candidate: Candidate, datasets: list[DatasetSize]
    ) -> int | None:
        """Return None if a requirement is met, or the number of the sentence with the reason."""
        found = answer(requirement, candidate, self.suite, datasets)
        return None if found.met else self._sentence(found.sentence)

    def _cells(self, candidate: Candidate, dataset: DatasetSize) -> list[Any] | None:
        """Return the cells of a data set; None if it was not measured."""
        found = [self._cell(candidate.cells.get((dataset, each))) for each in self._single]
        if found == [None] * len(found):
            return None
        return [*found, *(self._mixed_cell(candidate, dataset, each) for each in self.asked.measures)]

    @property
    def _single(self) -> list[Measure]:
        return [each for each in self.measures if each not in self.asked.measures]

    def _mixed_cell(
        self, candidate: Candidate, dataset: DatasetSize, measure: Measure
    ) -> list[Any] | None:
        """Return the cells of the questions, for the page to make the cells of a mix."""
        found = {
            name: self.asked.record(candidate.configuration, dataset, measure, name)
            for name in self.asked.names
        }
        if not any(found.values()):
            return None
        reasons = {name: missing(name, record) for name, record in found.items()}
        return [
            str(self._sentence(f"{reason.status}: {reason.sentence}"))
            if reason
            else self._cell(found[name])
            for name, reason in reasons.items()
        ]

    def _cell(self, record: Record | None) -> float | list[float] | str | None:
        """Return a value, if known with its interval, or the number of a reason as text."""
        if record is None:
            return None
        if record.value is None:
            return str(self._sentence(f"{record.status}: {record.sentence}"))
        value = _short(record.value, _DIGITS)
        ends = self.bands.own(record) or record.interval
        return [value, *(_short(end, _DIGITS_OF_ENDS) for end in ends)] if ends else value

    def _sentence(self, text: str) -> int:
        return self.sentences.setdefault(printable(text), len(self.sentences))


def _short(value: float, digits: int) -> float:
    """Return a number with so many significant digits, as an integer if it is one."""
    short = float(f"{value:.{digits}g}")
    return int(short) if short.is_integer() else short
