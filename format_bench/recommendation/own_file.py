"""The file that a user came with, which an answer compares with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from format_bench.results.candidates import Candidate, Configuration
    from format_bench.results.load import Results


@dataclass(frozen=True)
class OwnFile:
    """The file that a user came with."""

    name: str
    size_bytes: int | None
    """None of a file of which a sample was measured."""
    baseline: Candidate | None
    """The candidate that writes such files, measured or estimated on the same rows."""

    @classmethod
    def of(cls, results: Results, candidates: list[Candidate]) -> OwnFile | None:
        """Return the user's file that results are of; None if they are of other data."""
        for facts in results.data.values():
            if not isinstance(name := facts.get("file"), str):
                continue
            size, known = facts.get("bytes"), facts.get("baseline")
            baseline = None
            if isinstance(known, dict):
                choice = known.get("format"), known.get("codec"), known.get("level")
                same = (each for each in candidates if _choice(each.configuration) == choice)
                baseline = next(same, None)
            return cls(name, size if isinstance(size, int) else None, baseline)
        return None


def _choice(configuration: Configuration) -> tuple[Any, ...]:
    return configuration.format, configuration.codec, configuration.level
