"""Events as objects of compiled C++ classes: base class of their layouts."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core.errors import UnavailableError
from data_generator.synthetic.kaon_candidates import (
    CANDIDATE_FLOATS,
    TRACK_FLOATS,
    TRACK_INTEGERS,
    TRACKS,
)
from format_bench.studies.nested.layouts import Layout

if TYPE_CHECKING:
    import numpy as np

    from format_bench.studies.nested.events import Events


@dataclass(frozen=True)
class Matrices:
    """Values in the order in which the sources in C++ take them."""

    floats: np.ndarray
    """Shape (2 + 3 * 6, rows)."""
    integers: np.ndarray
    """Shape (3 * 2, rows)."""


class CompiledClasses(Layout):
    """Objects of the class FlatEvent, or DeepEvent with a list of kaons.

    Parameters
    ----------
    deep : bool
        True for DeepEvent.
    build : Path
        Folder in which the classes are compiled once.
    """

    nested = "DeepEvent"
    compilers: ClassVar[Sequence[tuple[str, str]]] = (("g++", "g++"),)
    """Programs that make the classes of the events, and the package of each."""

    def __init__(self, *, deep: bool, build: Path) -> None:
        super().__init__(deep=deep)
        self.build = build

    @property
    def name(self) -> str:  # noqa: D102
        return self.nested if self.deep else "FlatEvent"

    def require(self) -> None:
        """Look for the compilers, and import the layout's packages.

        Raises
        ------
        UnavailableError
            If one is missing.
        """
        for program, package in self.compilers:
            if shutil.which(program) is None:
                reason = f"{program} is missing, which makes the classes of the events"
                raise UnavailableError(self.format, reason, f"apt install {package}")
        super().require()

    def prepare(self, events: Events, codec: str) -> Matrices:  # noqa: D102
        del codec
        import numpy as np

        tracks = range(1, TRACKS + 1)
        floats = [*CANDIDATE_FLOATS, *(f"H{track}_{name}" for track in tracks for name in TRACK_FLOATS)]
        integers = [f"H{track}_{name}" for track in tracks for name in TRACK_INTEGERS]
        return Matrices(
            np.stack([events.columns[name] for name in floats]),
            np.stack([events.columns[name] for name in integers]),
        )
