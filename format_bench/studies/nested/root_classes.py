"""Objects of C++ classes in ROOT files, through ROOT's own library and compiled code."""

from __future__ import annotations

import shutil
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

from adapter_core.errors import UnavailableError
from format_bench.studies.nested.compiled import CompiledClasses, Matrices
from format_bench.studies.nested.events import Answer, Question
from format_bench.studies.nested.layouts import ZSTD_LEVEL

SOURCE = Path(__file__).with_name("events.hxx")

# Levels: an object in one branch, and a branch for each field, which is ROOT's default.
UNSPLIT, SPLIT = 0, 99

SETTINGS = {"none": 0, "zstd": 500 + ZSTD_LEVEL}
"""ROOT's numbers of codecs with levels (Compression.h)."""


class RootClasses(CompiledClasses):
    """Objects in a file of ROOT."""

    modules: ClassVar = ("ROOT",)

    def require(self) -> None:
        """Import ROOT, and compile the classes if that was not done before.

        Raises
        ------
        UnavailableError
            If ROOT or the compiler is missing, or the compiler fails.
        """
        super().require()
        _library(self.build)

    def _arrays(self, prepared: Matrices) -> tuple[Any, ...]:
        return prepared.floats.shape[1], prepared.floats, prepared.integers


class RootTTree(RootClasses):
    """A TTree of objects, in one branch or in one for each field.

    Parameters
    ----------
    deep, build
        See `CompiledClasses`.
    split : int
        ROOT's split level.
    """

    format = "TTree[ROOT]"

    def __init__(self, *, deep: bool, build: Path, split: int) -> None:
        super().__init__(deep=deep, build=build)
        self.split = split

    @property
    def name(self) -> str:  # noqa: D102
        return f"{super().name}, split {self.split}"

    def write(self, prepared: Matrices, path: Path, codec: str) -> None:  # noqa: D102
        arrays = self._arrays(prepared)
        setting = SETTINGS[codec]
        _library(self.build).WriteTree(str(path), self.deep, self.split, setting, *arrays)

    def answer(self, path: Path, question: Question) -> Answer:
        """Read event by event; of a split tree only the branches that the question needs."""
        read = _library(self.build).ReadTree
        return _answer(read(str(path), self.deep, question == "sparse", self.split != UNSPLIT))


class RootRNTuple(RootClasses):
    """An RNTuple of objects, which is always split, read through views."""

    format = "RNTuple[ROOT]"

    def write(self, prepared: Matrices, path: Path, codec: str) -> None:  # noqa: D102
        arrays = self._arrays(prepared)
        _library(self.build).WriteRNTuple(str(path), self.deep, SETTINGS[codec], *arrays)

    def answer(self, path: Path, question: Question) -> Answer:  # noqa: D102
        return _answer(_library(self.build).ReadRNTuple(str(path), self.deep, question == "sparse"))


def _answer(found: Any) -> Answer:
    return Answer(int(found.events), float(found.total))


@lru_cache
def _library(build: Path) -> Any:
    """Return ROOT with the compiled functions.

    Raises
    ------
    UnavailableError
        If they cannot be compiled.
    """
    source = build / "events.C"
    if not source.exists():
        build.mkdir(exist_ok=True)
        shutil.copyfile(SOURCE, source)
    import ROOT

    # On a crash ROOT's handlers would start a debugger.
    ROOT.gSystem.ResetSignals()
    ROOT.gErrorIgnoreLevel = ROOT.kFatal
    # ACLiC compiles only what is newer than the library.
    if ROOT.gROOT.LoadMacro(f"{source}+O") != 0:
        reason = "g++ cannot compile the classes of the events"
        raise UnavailableError("ROOT", reason, f"g++ on {source.name}, for its messages")
    return ROOT
