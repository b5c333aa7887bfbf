"""Weights and requirements for common purposes, each with its reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from format_bench.recommendation.requirements import Requirement
from format_bench.results.metrics import Measure

if TYPE_CHECKING:
    from format_bench.recommendation.weights import Weights


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
