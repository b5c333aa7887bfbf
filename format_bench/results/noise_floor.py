"""Noise floors of a machine: differences between two measurements of the same thing on it."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path

from adapter_core.errors import InvalidNoiseFloorError
from adapter_core.files import content_of, write_atomically
from format_bench.results.metrics import METRICS, Noise

# The file beside the results of a machine.
FILE_NAME = "noise.json"


@dataclass(frozen=True)
class Floors:
    """Relative differences of medians that noise alone reaches, as shares of the smaller median."""

    wall_time: float
    cpu_time: float
    memory: float
    size: float

    def floor_for(self, metric: str) -> float:
        """Return the floor of a metric; 0 for counts and ratios."""
        by_noise = {
            Noise.WALL_TIME: self.wall_time,
            Noise.CPU_TIME: self.cpu_time,
            Noise.MEMORY: self.memory,
            Noise.SIZE: self.size,
            Noise.EXACT: 0.0,
        }
        return by_noise[METRICS[metric].noise]

    def __str__(self) -> str:
        """Return the floors as percentages."""
        names = {"time": self.wall_time, "memory": self.memory, "size": self.size}
        return ", ".join(f"{name} {share:.0%}" for name, share in names.items())


def write(floors: Floors, path: Path) -> None:
    """Write floors as JSON, atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with write_atomically(path) as temporary:
        temporary.write_text(json.dumps(asdict(floors)) + "\n", encoding="utf-8")


def read(path: Path) -> Floors:
    """Return the floors in a file.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    InvalidNoiseFloorError
        If it contains something else.
    """
    with content_of(
        path,
        InvalidNoiseFloorError,
        "contains no noise floors; write it again with format-bench study noise",
    ):
        shares = {name: float(value) for name, value in json.loads(path.read_bytes()).items()}
        if not all(0 <= share < math.inf for share in shares.values()):
            raise ValueError("a share is negative or not finite")
        return Floors(**shares)


def beside(path: Path) -> Floors | None:
    """Return the floors in the folder of a file of results, or None if they were not measured."""
    noise = path.parent / FILE_NAME
    return read(noise) if noise.exists() else None
