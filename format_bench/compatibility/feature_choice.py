"""Features that may be used if some readers must read the files, from measured verdicts.

A reader is a library, with a version or the start of one, as in "pyarrow-15", or a program. Of several
versions that were tried, the newest counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from adapter_core.errors import UnknownNameError
from format_bench.compatibility.features import Feature, find, formats
from format_bench.compatibility.verdicts import Verdict
from format_bench.results.shipped import FeatureReading

# Verdicts on files that are read with all values.
_READ = {Verdict.SAME, Verdict.RETYPED}

_VERSION = re.compile(r"-(?=\d)")


class Reading(NamedTuple):
    """Verdict of a reader on a feature."""

    reader: str
    verdict: Verdict
    sentence: str

    def __str__(self) -> str:
        """Return a clause such as "pyarrow-15.0.0: refused: Unknown encoding"."""
        return ": ".join(filter(None, self))


@dataclass(frozen=True)
class Use:
    """A feature, and the verdicts of the readers that must read it."""

    format: str
    feature: Feature
    readings: tuple[Reading, ...]

    @property
    def is_allowed(self) -> bool:
        """Whether all readers read it."""
        return not self.objections

    @property
    def objections(self) -> list[Reading]:
        """The readings that forbid it."""
        return [each for each in self.readings if each.verdict not in _READ]

    @property
    def reason(self) -> str:
        """Why it is not allowed: a clause for each reader, or one for several with the same reason."""
        sentences = {each.sentence for each in self.objections}
        if self.is_untried and len(sentences) == 1 < len(self.objections) == len(self.readings):
            return f"{Verdict.UNTRIED}: {sentences.pop()}"
        return "; ".join(map(str, self.objections))

    @property
    def is_untried(self) -> bool:
        """Whether nothing but a missing trial forbids it."""
        return {each.verdict for each in self.objections} == {Verdict.UNTRIED}

    @property
    def verdict(self) -> str:
        """The answer in a word or two."""
        if self.is_untried:
            return Verdict.UNTRIED
        retyped = any(each.verdict is Verdict.RETYPED for each in self.readings)
        return ("another type" if retyped else "same") if self.is_allowed else "no"


def resolved(names: Iterable[str], readings: Iterable[FeatureReading]) -> list[str]:
    """Return the readers of given names, with their versions.

    Raises
    ------
    UnknownNameError
        If no reader of a name was tried.
    """
    known = sorted({each.reader for each in readings}, key=_order)
    return list(dict.fromkeys(_resolved(name, known) for name in names))


def _resolved(name: str, known: Sequence[str]) -> str:
    wanted = _plain(name)
    found = [
        each
        for each in known
        if wanted in {_plain(each), _plain(_VERSION.split(each)[0])}
        or _plain(each).startswith(f"{wanted}.")
    ]
    if not found:
        raise UnknownNameError("reader", name, known)
    return found[-1]


def _plain(name: str) -> str:
    return name.lower().replace("_", "-")


def _order(reader: str) -> tuple[str, list[int]]:
    library, *version = _VERSION.split(reader, maxsplit=1)
    return library, [int(each) for each in re.findall(r"\d+", "".join(version))]


def uses(
    readers: Sequence[str], readings: Sequence[FeatureReading], only: Sequence[str] = ()
) -> list[Use]:
    """Return the features of formats that any of the readers was tried on, allowed or not.

    Parameters
    ----------
    readers : sequence of str
        As `resolved` returns them.
    readings : sequence of FeatureReading
        Measured verdicts.
    only : sequence of str
        Labels of formats, tried or not; by default all that were tried.

    Raises
    ------
    UnknownNameError
        If a format has no features.
    """
    tried = {each.format for each in readings if each.reader in readers}
    wanted = [find(each) for each in only] or [
        each for each in formats().values() if each.format in tried
    ]
    return [use(each.format, of, readers, readings) for each in wanted for of in each.features]


def use(label: str, feature: Feature, readers: Iterable[str], readings: Iterable[FeatureReading]) -> Use:
    """Return the verdicts of readers on a feature of a format."""
    found = {
        each.reader: Reading(each.reader, Verdict(each.verdict), each.sentence)
        for each in readings
        if (each.format, each.feature) == (label, feature.name)
    }
    untried = "no file with it was read"
    return Use(
        label,
        feature,
        tuple(found.get(each) or Reading(each, Verdict.UNTRIED, untried) for each in readers),
    )
