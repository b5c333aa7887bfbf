"""What changes from one library set to the next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """One package whose version changed; it was added if there is no old one, removed if no new one."""

    name: str
    old: str | None
    new: str | None

    def __str__(self) -> str:
        if self.old is None:
            return f"{self.name} {self.new} added"
        if self.new is None:
            return f"{self.name} {self.old} removed"
        return f"{self.name} {self.old} -> {self.new}"


def steps(old: Mapping[str, str], new: Mapping[str, str]) -> list[Step]:
    """Return the steps from one set to the next, each version by name, ordered by name."""
    names = sorted(old.keys() | new.keys())
    return [Step(name, old.get(name), new.get(name)) for name in names if old.get(name) != new.get(name)]
