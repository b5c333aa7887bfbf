"""Plan of a month: the portions of its suites in their order, their costs, and the suites' hours.

``python -m format_bench.automation.monthly.plan SCALE FOLDER [SUITE...]`` prints it for
``cron.sh --dry-run``, where nothing is installed: it imports the standard library and declarations
alone.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from adapter_core.files import OF_CONTENT
from adapter_core.listing import declarations
from format_bench.automation.monthly import costs
from format_bench.automation.monthly.state import DAMAGED
from format_bench.results.suites import FAMILIES, SCALES, SUITES

# Most expected seconds of formats that share a run of asv; a slower one has its own. asv writes results
# when a run ends, so a kill loses about as much; starting it takes some twenty seconds.
PORTION_SECONDS = 1800.0

_HOUR = 3600.0
_GB = 1e9


@dataclass(frozen=True)
class Portion:
    """Formats of a suite that one run of asv measures."""

    labels: tuple[str, ...]
    """Empty for all of a suite that is not declared."""
    seconds: float
    """Expected time; 0 if it is not known."""


@dataclass(frozen=True)
class SuitePlan:
    """Portions of a suite that a month measures, with their expected time."""

    suite: str
    labels: tuple[str, ...] = ()
    """Formats in the order in which they are measured; empty for a suite that is not declared."""
    seconds: Mapping[str, float] | None = None
    """Expected wall time by format."""
    known: tuple[str, ...] = ()
    """Formats whose expected time is the time that an earlier month took."""
    months: tuple[str, ...] = ()
    """Earlier months with costs, oldest first."""
    hours: float = float("inf")
    """Most hours of a month."""
    disk_bytes: int = 0
    memory_bytes: int = 0

    @classmethod
    def of(cls, suite: str, scale: str, root: Path, earlier: Sequence[costs.Cost]) -> SuitePlan:
        """Return the plan of a suite by the costs of earlier months, oldest first.

        Formats that were measured longest ago come first, so those left out of the last month are the
        first of this one; of the others the fastest, so that most formats fit.

        Parameters
        ----------
        suite : str
            Its name; one that the package does not declare has neither formats nor limits.
        scale : str
            The scale.
        root : Path
            The checkout, whose adapters are measured.
        earlier : sequence of Cost
            Costs of this suite and of others.
        """
        if suite not in SUITES:
            return cls(suite)
        declared = SUITES[suite]
        names = declared.labels(declarations(root / FAMILIES[declared.family].folder))
        own = [each for each in earlier if each.suite == suite]
        known: dict[str, float] = {}
        measured: dict[str, str] = {}
        for each in own:
            known |= each.seconds
            if each.is_whole:
                measured |= dict.fromkeys(each.seconds, each.month)
        seconds = {
            name: known.get(name) or costs.typical_seconds(declared, name, scale) for name in names
        }
        plan = cls(
            suite,
            tuple(sorted(names, key=lambda name: (measured.get(name, ""), seconds[name]))),
            seconds,
            tuple(name for name in names if name in known),
            tuple(dict.fromkeys(each.month for each in own)),
            declared.month_hours,
        )
        portions = [each.labels for each in plan.portions()]
        disk, memory = costs.typical_bytes(declared, portions, scale)
        return replace(
            plan,
            disk_bytes=max((each.disk_bytes for each in own), default=disk),
            memory_bytes=max((each.memory_bytes for each in own), default=memory),
        )

    def portions(self, done: Collection[str] = ()) -> list[Portion]:
        """Return the portions that are left, in their order, if some formats have been measured."""
        if not self.labels:
            return [Portion((), 0.0)]
        groups: list[list[str]] = [[]]
        for label in self.labels:
            if label in done:
                continue
            if self._expected([*groups[-1], label]) > PORTION_SECONDS and groups[-1]:
                groups.append([])
            groups[-1].append(label)
        return [Portion(tuple(each), self._expected(each)) for each in groups if each]

    def _expected(self, labels: Collection[str]) -> float:
        return sum((self.seconds or {})[each] for each in labels)

    def is_all(self, portion: Portion) -> bool:
        """Return whether a portion is the whole suite."""
        return len(portion.labels) == len(self.labels)

    def share_of(self, label: str, portion: Portion) -> float:
        """Return the share of a portion's time that one of its formats is expected to take."""
        expected = self._expected(portion.labels)
        return self._expected([label]) / expected if expected else 1 / len(portion.labels)

    def fits(self, portion: Portion, spent_seconds: float) -> bool:
        """Return whether the hours that are left suffice for a portion.

        The first one is measured in any case: one that is longer than a month's hours would never be.
        """
        return not spent_seconds or portion.seconds <= self.left_seconds(spent_seconds)

    def left_seconds(self, spent_seconds: float) -> float:
        """Return the seconds that are left of the hours."""
        return self.hours * _HOUR - spent_seconds

    def expected(self) -> tuple[float, list[str]]:
        """Return the expected seconds of the month, and the formats that will not fit."""
        spent = 0.0
        left_out: list[str] = []
        for portion in self.portions():
            if self.fits(portion, spent):
                spent += portion.seconds
            else:
                left_out += portion.labels
        return min(spent, self.hours * _HOUR), left_out

    @property
    def source(self) -> str:
        """Where the expected times come from, in words."""
        if not self.known:
            return "typical costs"
        months = self.months[0] if len(self.months) == 1 else f"{self.months[0]} to {self.months[-1]}"
        others = len(self.labels) - len(self.known)
        return f"the costs of {months}" + (f", of {others} formats typical ones" if others else "")

    def sentence(self) -> str:
        """Return a line on the suite."""
        if not self.labels:
            return f"{self.suite}: no estimate, since it is not declared"
        seconds, left_out = self.expected()
        count = len(self.labels) - len(left_out)
        text = (
            f"{self.suite}: {seconds / _HOUR:.1f} of at most {self.hours:g} hours for {count} of "
            f"{len(self.labels)} formats; {self.disk_bytes / _GB:.1f} GB of disk, "
            f"{self.memory_bytes / _GB:.1f} GB of memory; by {self.source}"
        )
        return f"{text}; first in the next month: {', '.join(left_out)}" if left_out else text


def sentences(plans: Sequence[SuitePlan]) -> Iterator[str]:
    """Yield a line on each suite, and one on all."""
    yield from (each.sentence() for each in plans)
    known = [each for each in plans if each.labels]
    if known:
        expected = sum(each.expected()[0] for each in known) / _HOUR
        yield (
            f"in all: {expected:.1f} of at most {sum(each.hours for each in known):g} hours; up to "
            f"{max(each.disk_bytes for each in known) / _GB:.1f} GB of disk beside the packages, and "
            f"{max(each.memory_bytes for each in known) / _GB:.1f} GB of memory"
        )


def unfinished(state: Path, suites: Sequence[str]) -> Iterator[str]:
    """Yield a line on the month that a state file describes, if some of the suites are left of it."""
    if not state.exists():
        return
    try:
        month = json.loads(state.read_text(encoding="utf-8"))
        left = [each for each in suites if each not in month["ended"]]
        if left:
            yield f"would first finish {month['name']}, of which these are left: {' '.join(left)}"
    except OF_CONTENT:
        yield f"{state} {DAMAGED}"


def main(scale: str, folder: str, *suites: str) -> None:
    """Print the plan of the suites of this checkout, with results and state of a scale in a folder."""
    if scale not in SCALES:
        sys.exit(f"SCALE is {scale!r}; it can be {', '.join(SCALES)}")
    earlier = costs.noted(Path(folder) / "results")
    plans = [SuitePlan.of(each, scale, Path(), earlier) for each in suites]
    lines = [*unfinished(Path(folder) / "month.json", suites), *sentences(plans)]
    sys.stdout.writelines(f"{line}\n" for line in lines)


if __name__ == "__main__":
    main(*sys.argv[1:])
