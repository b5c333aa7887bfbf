"""Section of recommendations for typical cases, each made from the results of its suite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase

import msgspec

from adapter_core.errors import InvalidWeightError, NoCandidateError, UnknownNameError
from format_bench.recommendation import (
    Recommendation,
    Requirement,
    purposes,
    questions,
    recommend,
    scope,
)
from format_bench.recommendation.brief import brief_of
from format_bench.recommendation.code import code_of
from format_bench.results.load import Results, suite_of
from format_bench.results.metrics import Measure
from format_bench.studies.declared.blocks import MISSING, Block, Context, SectionBase


class Case(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A typical case: its measured cells and its weights."""

    case: str
    """Name of the case, a heading."""
    wants: str
    """Purpose of such data, as a sentence."""
    suite: str
    dataset: str
    preset: str | None = None
    weights: dict[str, float] = {}
    """By names of metrics on the command line; they replace the preset's."""
    require: list[Requirement] = []
    questions: dict[str, float] = {}
    """How often each query of the suite is asked."""
    formats: list[str] = msgspec.field(default_factory=lambda: ["*"])
    """Patterns of the labels that can be chosen."""
    evidence: dict[str, str] = {}
    """Titles of pages of the manual by file name."""

    def answer(self, results: Results) -> Recommendation:
        """Return the recommendation of the case.

        Raises
        ------
        UnknownNameError
            If the results have neither the suite nor the data set.
        NoCandidateError
            If no format can be chosen.
        InvalidWeightError
            If a metric that counts has no values.
        """
        found = scope.of_dataset(
            replace(results, records=[each for each in results.records if self._takes(each.format)]),
            self.dataset,
        )
        found = questions.mixed(found, self.questions, self.suite)
        weights = {Measure.named(name): weight for name, weight in self.weights.items()}
        wish = purposes.Wish(
            questions.weighed(weights, self.questions), tuple(self.require), self.preset
        )
        wanted = purposes.criteria_for(found, wish, self.suite)
        return recommend(found, wanted.weights, wanted.requirements, suite=self.suite)

    def _takes(self, label: str) -> bool:
        # Brackets of labels are no sets of characters.
        patterns = [each.replace("[", "[[]") for each in self.formats]
        return any(fnmatchcase(label, each) for each in patterns)


class Answers(SectionBase, tag="answers", kw_only=True):
    """A table of the cases with their answers, and then each answer with its reasons."""

    cases: list[Case]

    def blocks(self, context: Context) -> Iterator[Block]:
        """Yield the table, and a block for each case."""
        found = [(case, *_answered(case, context.results)) for case in self.cases]
        rows = [[case.case, _name(answer), _links(case)] for case, answer, _ in found]
        yield Block(self.title, self.text, ["case", "use", "evidence"], rows, "lll")
        for case, answer, reason in found:
            parts = [case.wants, *(_parts(answer) if answer else [f"Not answered: {reason}."])]
            yield Block(case.case, "\n\n".join(parts))


def _answered(case: Case, results: Results) -> tuple[Recommendation | None, str]:
    """Return the answer of a case, or the reason why there is none."""
    if case.suite not in {suite_of(each) for each in results.records}:
        return None, f"these results have nothing of the suite {case.suite}"
    try:
        return case.answer(results), ""
    except (UnknownNameError, NoCandidateError, InvalidWeightError) as error:
        return None, str(error)


def _name(answer: Recommendation | None) -> str:
    if answer is None:
        return MISSING
    return "no winner" if answer.is_undecided else f"**{answer.first.candidate.name}**"


def _parts(answer: Recommendation) -> Iterator[str]:
    """Yield the three lines of an answer, and the code of the first format."""
    yield "\n".join(f"- **{word}** {text}" for word, text in brief_of(answer).lines)
    if not answer.is_undecided and (code := code_of(answer.first.candidate.configuration)):
        yield f"```python\n{code}\n```"


def _links(case: Case) -> str:
    return ", ".join(f"[{title}]({page})" for page, title in case.evidence.items()) or MISSING
