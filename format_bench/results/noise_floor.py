"""The noise floors of a machine, as the noise command leaves them for the comparisons."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from adapter_core.errors import InvalidNoiseFloorError
from adapter_core.files import write_atomically
from format_bench.results.metrics import METRICS, Noise


@dataclass(frozen=True)
class Floors:
    """By how much two measurements of the same thing differ here, as a share of the smaller."""

    wall_time: float
    cpu_time: float
    memory: float
    size: float

    def of(self, metric: str) -> float:
        """Return the floor of a metric; 0 for an exact one."""
        return {
            Noise.WALL_TIME: self.wall_time,
            Noise.CPU_TIME: self.cpu_time,
            Noise.MEMORY: self.memory,
            Noise.SIZE: self.size,
        }.get(METRICS[metric].noise, 0.0)

    def __str__(self) -> str:
        """Return the floors as percentages."""
        names = {"time": self.wall_time, "memory": self.memory, "size": self.size}
        return ", ".join(f"{name} {share:.0%}" for name, share in names.items())


def write(floors: Floors, path: Path) -> None:
    """Write floors as JSON; the file is whole at any time, or not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with write_atomically(path) as temporary:
        temporary.write_text(json.dumps(asdict(floors)) + "\n", encoding="utf-8")


def read(path: Path) -> Floors:
    """Return the floors in a file.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    InvalidNoiseFloorError
        If it holds something else.
    """
    try:
        return Floors(**{name: float(value) for name, value in json.loads(path.read_bytes()).items()})
    except (ValueError, TypeError, AttributeError) as error:
        raise InvalidNoiseFloorError(
            f"{path} holds no noise floors; write it anew with the noise command"
        ) from error
