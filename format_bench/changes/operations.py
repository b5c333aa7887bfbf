"""What the benchmarks measure, as operations: what a reader would say has become slower or larger."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from format_bench.results.noise_floor import Floors


class Kind(StrEnum):
    """How values of an operation vary."""

    TIME = "time"
    MEMORY = "memory"
    SIZE = "size"
    """Known exactly, though a library writes its own version into files: see `LEAST`."""
    COUNT = "count"
    """Known exactly."""


@dataclass(frozen=True)
class Operation:
    """What one or several benchmarks of a suite measure."""

    name: str
    kind: Kind

    def least_effect(self, floors: Floors | None) -> float:
        """Return the share by which a value must change to be of interest.

        The noise floor of the machine, and `LEAST` where that is larger or no floor was measured.
        """
        floor = {
            Kind.TIME: floors.wall_time if floors else UNMEASURED[Kind.TIME],
            Kind.MEMORY: floors.memory if floors else UNMEASURED[Kind.MEMORY],
            Kind.SIZE: floors.size if floors else 0.0,
            Kind.COUNT: 0.0,
        }[self.kind]
        return max(floor, LEAST[self.kind])


LEAST = {Kind.TIME: 0.02, Kind.MEMORY: 0.02, Kind.SIZE: 0.005, Kind.COUNT: 0.0}
"""Shares below which nobody would act on a change."""

UNMEASURED = {Kind.TIME: 0.1, Kind.MEMORY: 0.1}
"""What stands for noise floors that were not measured: rather more than quiet machines have."""

OPERATIONS = {
    "time_save": Operation("save", Kind.TIME),
    "time_durable_save": Operation("save", Kind.TIME),
    "time_read": Operation("read", Kind.TIME),
    "track_open_time": Operation("open", Kind.TIME),
    "track_random_read": Operation("random read", Kind.TIME),
    "track_batch_read": Operation("random read", Kind.TIME),
    "track_save_memory": Operation("save memory", Kind.MEMORY),
    "track_read_memory": Operation("read memory", Kind.MEMORY),
    "track_held_memory": Operation("held memory", Kind.MEMORY),
    "track_size": Operation("size", Kind.SIZE),
    "track_files": Operation("files", Kind.COUNT),
    "track_lost_columns": Operation("lost columns", Kind.COUNT),
    "track_changed_images": Operation("changed images", Kind.COUNT),
}
"""By the methods of the suites. The peak of whole processes is left out: the growth during the call,
which is there, too, says it better."""

SUITES = {"compression": "compressed", "image": "images"}
"""What is said of a format in suites where it is not plain tables."""
