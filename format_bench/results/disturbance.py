"""Disturbance of results: a machine that was busy with other work, and noise too large for a choice.

One rule for the terminal, JSON, reports and the site:

1. A machine counts as busy above `BUSY` processes for each CPU when the run started. Whatever the load
   was then, other work slowed a run if `SLOWED_SHARE` of its calls took `SLOWED` times their CPU time.
2. Above `NOISY` in the median cell, a banner has the difference to expect between two runs.
3. Above `TOO_NOISY` no winner is named: in half of the cells a second run may find twice the time, and
   so another order of all but the clearest cases.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from format_bench.results.display.text import format_ratio, plural
from format_bench.results.load import Results
from format_bench.results.noise import RunNoise, is_wall_time
from format_bench.results.records import Record, key

BUSY = 1.5
"""Processes for each CPU above which a machine counts as busy with other work."""

SLOWED = 1.5
"""Wall time of a call, as a multiple of its CPU time, from which on it waited for other work.

A call on several threads has more CPU time than wall time, and never shows this.
"""

SLOWED_SHARE = 0.25
"""Share of the calls: some formats wait for the disk, or for a server of their own, on any machine.

Of 1,062 warm times of five runs of all table formats on an idle machine none was `SLOWED`, and 5 % were
above 1.08; of 82 of a run beside six processes for each CPU 73 % were. ``python -m tools.check_noise
--load`` repeats it beside loads between these.
"""

# Times of calls that compute on what is in the page cache; by name of the metric their CPU time.
_COMPUTING = {f"{step} time": f"{step} CPU time" for step in ("save", "read", "query")}

# Axes under whose conditions calls wait for something else than CPUs.
_WAITING = {"medium", "link", "place", "memory limit"}

NOISY = 0.33
"""Noise of the median cell above which there is a banner.

The noise bounds 95 % of differences, and half of normally distributed ones are beyond a third of that
bound: so half of the times of another run are 10 % off, or more.
"""

TOO_NOISY = 1.0
"""Noise of the median cell above which no winner is named."""

# Samples of one process whose range says something where the noise of rounds is not known.
_FEWEST_SAMPLES = 3

# Noise above which its number says no more.
_MOST_SHOWN = 9.0

# Factor between the ends of the winner's band above which overlapping all others means noise: a
# narrower band says that the candidates are alike.
WIDE_BAND = 2.0

FEWEST_CANDIDATES = 3
"""Candidates that all tie, below which that is a tie and not noise."""


def busy_sentence(load: float, cpus: int) -> str:
    """Return a sentence on a machine with so many running processes; empty if it was not busy."""
    if load <= BUSY * cpus:
        return ""
    return (
        f"The machine was busy, with {load:.1f} processes for {plural(cpus, 'CPU')}: times may be far "
        "too long. Repeat this when it is idle."
    )


def slowed_share(ratios: Sequence[float]) -> float:
    """Return the share of calls that waited for other work, of their wall times by their CPU times."""
    return sum(each >= SLOWED for each in ratios) / len(ratios) if ratios else 0.0


def is_slowed(ratios: Sequence[float]) -> bool:
    """Return whether so many calls waited that other work slowed a run."""
    return slowed_share(ratios) >= SLOWED_SHARE


def slowed_sentence(records: Iterable[Record]) -> str:
    """Return a sentence on calls that waited for other work; empty if they are few."""
    found = [
        each
        for each in records
        if each.value and each.cache != "cold" and not _WAITING & each.conditions.keys()
    ]
    # Results of earlier versions have CPU times as records of their own alone.
    cpu = {key(each): each.value for each in found if each.metric in _COMPUTING.values()}
    ratios = []
    for each in found:
        if each.metric not in _COMPUTING:
            continue
        if each.cpu_repeats:
            # Of an estimate, the value is of more rows.
            wall = statistics.median(each.repeats)
            own: float | None = statistics.median(each.cpu_repeats)
        else:
            wall = each.value or 0.0
            own = cpu.get(key(replace(each, metric=_COMPUTING[each.metric])))
        if own:
            ratios.append(wall / own)
    if not is_slowed(ratios):
        return ""
    slowed = [each for each in ratios if each >= SLOWED]
    middle = format_ratio(statistics.median(slowed))
    return (
        f"Other work slowed this run: {len(slowed):,} of {plural(len(ratios), 'time')} of calls are "
        f"{SLOWED} times their CPU time or more, {middle} times in the middle. They are far too long; "
        "repeat this when the machine is idle."
    )


@dataclass(frozen=True)
class Disturbance:
    """How far results are disturbed."""

    busy: str = ""
    """Sentences on a busy machine; empty if it was idle, or if that is not known."""
    noise: float | None = None
    """Noise of the median timed cell, a share of the smaller of two values; None if it is not known."""

    @classmethod
    def of(cls, results: Results, records: Iterable[Record] | None = None) -> Disturbance:
        """Return the disturbance of results, or of some records among them."""
        records = results.records if records is None else [*records]
        busy = filter(None, (_busy(results), slowed_sentence(records)))
        return cls(" ".join(busy), median_noise(records))

    @property
    def is_too_noisy(self) -> bool:
        """Whether noise alone forbids to name a winner."""
        return self.noise is not None and self.noise > TOO_NOISY

    @property
    def noise_text(self) -> str:
        """The noise in words; empty if it is not known."""
        if self.noise is None:
            return ""
        return "more than tenfold" if self.noise > _MOST_SHOWN else f"up to {self.noise:.0%}"

    @property
    def banner(self) -> str:
        """Sentences for the top of every view; empty if there is nothing to warn of."""
        if self.noise is None or self.noise <= NOISY:
            return self.busy
        text = f"Times are noisy: two runs differ by {self.noise_text} in the median cell."
        return f"{self.busy} {text}".strip()


def _busy(results: Results) -> str:
    for facts in reversed(results.metadata):
        load, cpu = facts.get("load_average"), facts.get("cpu")
        start = load.get("start") if isinstance(load, dict) else None
        cpus = cpu.get("usable") if isinstance(cpu, dict) else None
        if isinstance(start, list) and start and isinstance(cpus, int):
            return busy_sentence(float(start[0]), cpus)
    return ""


def median_noise(records: Sequence[Record]) -> float | None:
    """Return the noise of the median timed cell, of its rounds or else of its samples."""
    noise = RunNoise(records)
    timed = [each for each in records if each.value and is_wall_time(each)]
    found = [noise.of_cell(each) for each in timed]
    known = [each for each in found if each is not None]
    # Samples of one process resemble each other more than two runs do: at least so much is noise.
    known = known or [
        each.interval[1] / each.interval[0] - 1
        for each in timed
        if each.interval and each.interval[0] > 0 and len(each.repeats) >= _FEWEST_SAMPLES
    ]
    return statistics.median(known) if known else None
