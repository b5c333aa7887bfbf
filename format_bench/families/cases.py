"""Case: one adapter on one data set, as the runner measures it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from adapter_core import (
    UnavailableError,
    UnknownLevelError,
    UnknownNameError,
    UnsupportedError,
)
from adapter_core.codec_choice import CodecChoice
from format_bench.families.operations import registry_of
from format_bench.families.questions import Questions, declared, digest
from format_bench.results.candidates import OWN_DEFAULT
from format_bench.results.conditions import Conditioned, Conditions
from format_bench.results.load import ASKED
from format_bench.results.suites import SUITES, Family, Step, Track, family_of_suite

_USUAL = Conditions({"threads": "all"})


@dataclass(frozen=True)
class Case(Conditioned):
    """One format on one data set, with or without one of its codecs.

    Raises
    ------
    UnknownNameError, UnavailableError, UnknownLevelError, UnsupportedError
        If the format, its codec, or the codec's level is unknown.
    """

    format: str
    """The label."""
    dataset: str
    rows: int
    """Of the table, or images of the set."""
    conditions: Conditions = _USUAL
    """Values of axes by name; threads are always among them."""
    codec: str | None = None
    """By default the format does not compress."""
    level: int | None = None
    """The level that is used: where none is given, the codec's default takes its place. None for a lossy
    codec under an error bound."""
    suite: str = "tabular"
    """One of `format_bench.results.suites.SUITES`."""
    questions: Questions | None = None
    """A user's questions, in place of the family's."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "conditions", _USUAL | self.conditions)
        if self.codec is not None:
            codec = registry_of(self.family).find(self.format).codec_named(self.codec)
            level = codec.level_or_default(self.level)
            # A bound takes the place of bits of precision.
            is_bounded = codec.bounds and "error bound" in self.conditions
            object.__setattr__(self, "level", None if is_bounded else level)
        elif self.level is not None:
            raise UnknownLevelError(f"{self.format}: level {self.level} is given without a codec")

    @property
    def facts(self) -> dict[str, Any]:
        """All that distinguishes the case, flat, as logs have it: an axis is a field of its own."""
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        del own["conditions"]
        own["questions"] = self.questions and digest(self.questions.sources)
        return {**own, "track": "", "medium": "", **self.conditions}

    @property
    def family(self) -> Family:
        """The family of the suite."""
        return family_of_suite(self.suite)

    @property
    def asked(self) -> Questions:
        """The questions to the saved file."""
        return self.questions or declared(self.family.name).to(self.dataset)

    @property
    def asked_facts(self) -> dict[str, dict[str, float]]:
        """The fact of the data set that a user's questions are; empty without any."""
        if self.questions is None:
            return {}
        return {ASKED: {name: each.weight for name, each in self.questions.by_name.items()}}

    @property
    def steps(self) -> tuple[Step, ...]:
        """All steps of the case, in order."""
        steps = self.family.steps_of(SUITES[self.suite])
        return tuple(each for each in steps if not each.under or each.under in self.conditions)

    @property
    def file_name(self) -> str:
        """Name of the measured file, with the format's suffix: some libraries refuse others."""
        try:
            return f"file{registry_of(self.family).find(self.format).suffix}"
        except (UnavailableError, UnknownNameError):
            return "file"


def codec_on(track: Track, adapter: CodecChoice) -> tuple[str | None, int | None]:
    """Return the codec and level that an adapter writes with on a track; None for no codec."""
    offered = {each.name: each for each in adapter.codecs}
    for choice in track.codecs:
        name, level = level_of(choice)
        if name in offered:
            return name, level if offered[name].levels else None
    return None, None


def codec_of(adapter: CodecChoice, choice: str) -> tuple[str | None, int | None]:
    """Return codec and level of a format for a choice of a suite, e.g. "zstd level 1".

    HDF5 has its codecs inside of Blosc, e.g. "blosc:lz4".

    Raises
    ------
    UnsupportedError
        If the format has no such codec, or no default of its own.
    """
    if choice == "none":
        return None, None
    if choice == OWN_DEFAULT:
        if adapter.default_codec is None:
            raise UnsupportedError(f"{adapter.label} does not compress unless it is told to, see none")
        return adapter.default_codec, None
    name, level = level_of(choice)
    for codec in adapter.codecs:
        if codec.name in (name, f"blosc:{name}"):
            return codec.name, level if codec.levels else None
    raise UnsupportedError(f"{adapter.label} has no codec {name}")


def level_of(choice: str) -> tuple[str, int | None]:
    """Return codec and level of a choice, e.g. ("zstd", 1) for "zstd level 1"."""
    name, _, level = choice.partition(" level ")
    return name, int(level) if level else None
