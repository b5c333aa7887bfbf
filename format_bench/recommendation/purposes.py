"""Weights and requirements as a user gives them, on top of those of a preset.

Weights and requirements for common purposes, each with its reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from format_bench.recommendation import scope
from format_bench.recommendation.requirements import Requirement, answer
from format_bench.results.candidates import candidates_of, datasets_of, measures_of
from format_bench.results.load import Results, suite_of
from format_bench.results.metrics import Measure

if TYPE_CHECKING:
    from format_bench.recommendation.scoring import Weights


class Weighed(NamedTuple):
    """What counts, how much, and why."""

    name: str
    """As on the command line."""
    weight: float
    reason: str


@dataclass(frozen=True)
class Preset:
    """A purpose."""

    purpose: str
    weighed: tuple[Weighed, ...]
    required: dict[Requirement, str]
    """With the reason."""

    @property
    def weights(self) -> Weights:
        """The weights by measure."""
        return {Measure.named(each.name): each.weight for each in self.weighed}


BALANCED = Preset(
    "nothing in particular",
    (
        Weighed("save_time", 1, "it is written"),
        Weighed("read_time", 1, "it is read"),
        Weighed("size", 1, "it takes space"),
    ),
    {},
)
"""What counts where nobody says what does."""

PRESETS = {
    "archive": Preset(
        "kept for years, seldom read, by programs that do not exist yet",
        (
            Weighed("size", 3, "space is paid for as long as the data are kept"),
            Weighed("read_time", 1, "it is read, if seldom"),
        ),
        {
            Requirement.EXACT: "nobody will be there to ask what a value was",
            Requirement.PORTABLE: "today's libraries may be gone",
            Requirement.SAFE: "it may have passed through many hands",
            Requirement.SINGLE_FILE: "one file is moved and checksummed as a whole",
        },
    ),
    "exchange": Preset(
        "given to others, with other languages and no reason to trust you",
        (
            Weighed("size", 2, "it goes over a network"),
            Weighed("read_time", 2, "each receiver reads it"),
            Weighed("save_time", 1, "it is written once"),
        ),
        {
            Requirement.PORTABLE: "the receiver may not use Python",
            Requirement.SAFE: "the receiver should not have to trust you",
            Requirement.SINGLE_FILE: "one file is sent in one piece",
        },
    ),
    "training": Preset(
        "read over and over, in part and at random, by a program that learns",
        (
            Weighed("random_read_time_per_image", 3, "samples are drawn one by one"),
            Weighed("batch_read_time_per_image", 3, "samples are drawn in batches"),
            Weighed("read_time", 3, "each epoch reads everything"),
            Weighed("read_memory", 1, "the model wants the memory, and each worker takes its own"),
        ),
        {Requirement.COLUMNS: "a model takes some columns of a table, not all"},
    ),
    "analytics": Preset(
        "queried often, some columns at a time, from a disk larger than memory",
        (
            Weighed("cold_read_time", 2, "most queries meet data that are not in memory"),
            Weighed("read_time", 1, "some queries meet data that are"),
            Weighed("size", 1, "less is read from the disk, and more fits in memory"),
        ),
        {Requirement.COLUMNS: "a query takes some columns, not all"},
    ),
    "cache": Preset(
        "written by a program for itself, read soon, then thrown away",
        (
            Weighed("save_time", 1, "saving must cost less than computing again"),
            Weighed("read_time", 1, "so must reading"),
        ),
        {Requirement.EXACT: "the program must not notice that it was not computed"},
    ),
}


class Purpose(NamedTuple):
    """What to recommend for."""

    weights: Weights
    requirements: tuple[Requirement, ...]
    remarks: list[str]
    """What of a preset was left out, and why."""


def combined(
    results: Results, weights: Weights, requirements: tuple[Requirement, ...], preset: str | None
) -> Purpose:
    """Return what a user wants of some results.

    Parameters
    ----------
    results : Results
        They decide what of the preset can be answered.
    weights : dict of Measure to float
        The user's own, each of which takes the place of the preset's; if there are none and no preset,
        `BALANCED` counts.
    requirements : tuple of Requirement
        The user's own.
    preset : str, optional
        One of `PRESETS`.

    Raises
    ------
    InvalidWeightError
        If the results have no values of what the user weighs.
    """
    if preset is None and weights:
        return Purpose(weights, requirements, [])
    counting = {measure: weight for measure, weight in weights.items() if weight}
    base = applied(PRESETS.get(preset or "", BALANCED), scope.one_family(results, counting))
    return Purpose(base.weights | weights, (*base.requirements, *requirements), base.remarks)


def applied(preset: Preset, results: Results) -> Purpose:
    """Return what of a preset the results, of one family, can answer.

    A preset is made for all families and all runs: a metric that these results lack, or a condition
    of which they know nothing for any format, is left out.
    """
    candidates = candidates_of(results.records)
    measured, tables = measures_of(candidates), datasets_of(candidates)
    family = suite_of(results.records[0])
    remarks = [
        f"{measure.phrase} does not count: these results have no values of it"
        for measure in preset.weights
        if measure not in measured
    ]
    kept = []
    for requirement in preset.required:
        answers = [answer(requirement, each, family, tables) for each in candidates]
        if any(each.met is not None for each in answers):
            kept.append(requirement)
        else:
            remarks.append(f"{requirement} is not required: {answers[0].sentence}")
    weights = {each: weight for each, weight in preset.weights.items() if each in measured}
    return Purpose(weights, tuple(kept), remarks)
