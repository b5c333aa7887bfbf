"""Events as objects of compiled C++ classes: messages of Protobuf, and objects in files of ROOT."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.errors import UnavailableError
from data_generator.synthetic.kaon_candidates import (
    CANDIDATE_FLOATS,
    TRACK_FLOATS,
    TRACK_INTEGERS,
    TRACKS,
)
from format_bench.studies.nested.events import Answer, Events, Question
from format_bench.studies.nested.layouts import ZSTD_LEVEL, Layout

if TYPE_CHECKING:
    import numpy as np


SCHEMA = Path(__file__).with_name("events.proto")
MESSAGES_SOURCE = Path(__file__).with_name("protobuf_events.cc")

ROOT_SOURCE = Path(__file__).with_name("events.hxx")

# Levels: an object in one branch, and a branch for each field, which is ROOT's default.
UNSPLIT, SPLIT = 0, 99

SETTINGS = {"none": 0, "zstd": 500 + ZSTD_LEVEL}
"""ROOT's numbers of codecs with levels (Compression.h)."""


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


class ProtobufClasses(CompiledClasses):
    """Messages FlatEvent, or DeepEvent with a repeated field of kaons, each after its length."""

    format = "Protobuf[C++]"
    codecs = ("none",)
    compilers: ClassVar = (*CompiledClasses.compilers, ("protoc", "protobuf-compiler libprotobuf-dev"))

    def require(self) -> None:
        """Compile the classes if that was not done before.

        Raises
        ------
        UnavailableError
            If a compiler is missing or fails, which Protobuf's headers make it do if they are missing.
        """
        super().require()
        _protobuf(self.build)

    def write(self, prepared: Matrices, path: Path, codec: str) -> None:  # noqa: D102
        del codec
        floats, integers = prepared.floats, prepared.integers
        arrays = floats.shape[1], floats.ctypes.data, integers.ctypes.data
        if not _protobuf(self.build).WriteMessages(bytes(path), self.deep, *arrays):
            raise OSError(f"Protobuf could not write {path.name}")

    def answer(self, path: Path, question: Question) -> Answer:
        """Read message by message, all fields of each."""
        events, total = ctypes.c_long(), ctypes.c_double()
        found = ctypes.byref(events), ctypes.byref(total)
        if not _protobuf(self.build).ReadMessages(bytes(path), self.deep, question == "sparse", *found):
            raise OSError(f"Protobuf could not read {path.name}")
        return Answer(events.value, total.value)


@lru_cache
def _protobuf(build: Path) -> Any:
    """Return the compiled functions.

    Raises
    ------
    UnavailableError
        If they cannot be compiled.
    """
    library = build / "protobuf_events.so"
    if not library.exists():
        build.mkdir(exist_ok=True)
        made = f"{library}.new"  # renamed, since a killed compiler leaves a part
        classes = ["protoc", f"--proto_path={SCHEMA.parent}", f"--cpp_out={build}", str(SCHEMA)]
        sources = [str(MESSAGES_SOURCE), str(build / "events.pb.cc")]
        compiler = ["g++", "-O2", "-shared", "-fPIC", f"-I{build}", *sources, "-o", made, "-lprotobuf"]
        for command in (classes, compiler):
            done = subprocess.run(  # noqa: S603 (the arguments are our own)
                command, capture_output=True, text=True, check=False
            )
            if done.returncode:
                reason = f"{command[0]} cannot compile the classes of the events"
                lines = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
                raise UnavailableError(
                    "Protobuf[C++]", f"{reason}: {lines[0]}", "apt install libprotobuf-dev"
                )
        Path(made).rename(library)
    found = ctypes.CDLL(str(library))
    path, flag = ctypes.c_char_p, ctypes.c_bool
    found.WriteMessages.argtypes = [path, flag, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    numbers = ctypes.POINTER(ctypes.c_long), ctypes.POINTER(ctypes.c_double)
    found.ReadMessages.argtypes = [path, flag, flag, *numbers]
    for function in (found.WriteMessages, found.ReadMessages):
        function.restype = flag
    return found


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
        _root(self.build)

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
        _root(self.build).WriteTree(str(path), self.deep, self.split, setting, *arrays)

    def answer(self, path: Path, question: Question) -> Answer:
        """Read event by event; of a split tree only the branches that the question needs."""
        read = _root(self.build).ReadTree
        return _answer(read(str(path), self.deep, question == "sparse", self.split != UNSPLIT))


class RootBranches(RootClasses):
    """A TTree with a branch for each member, made by hand: columns without the class.

    What ROOT makes of the class at split level 99, and what is bound member by member when it is read.
    """

    format = "TTree[ROOT]"

    @property
    def name(self) -> str:  # noqa: D102
        return f"{super().name}, by hand"

    def write(self, prepared: Matrices, path: Path, codec: str) -> None:  # noqa: D102
        arrays = self._arrays(prepared)
        _root(self.build).WriteColumns(str(path), SETTINGS[codec], *arrays)

    def answer(self, path: Path, question: Question) -> Answer:
        """Read event by event the branches that the question needs."""
        return _answer(_root(self.build).ReadColumns(str(path), question == "sparse"))


class RootRNTuple(RootClasses):
    """An RNTuple of objects, which is always split, read through views."""

    format = "RNTuple[ROOT]"

    def write(self, prepared: Matrices, path: Path, codec: str) -> None:  # noqa: D102
        arrays = self._arrays(prepared)
        _root(self.build).WriteRNTuple(str(path), self.deep, SETTINGS[codec], *arrays)

    def answer(self, path: Path, question: Question) -> Answer:  # noqa: D102
        return _answer(_root(self.build).ReadRNTuple(str(path), self.deep, question == "sparse"))


def _answer(found: Any) -> Answer:
    return Answer(int(found.events), float(found.total))


@lru_cache
def _root(build: Path) -> Any:
    """Return ROOT with the compiled functions.

    Raises
    ------
    UnavailableError
        If they cannot be compiled.
    """
    source = build / "events.C"
    if not source.exists():
        build.mkdir(exist_ok=True)
        shutil.copyfile(ROOT_SOURCE, source)
    import ROOT

    # On a crash ROOT's handlers would start a debugger.
    ROOT.gSystem.ResetSignals()
    ROOT.gErrorIgnoreLevel = ROOT.kFatal
    # ACLiC compiles only what is newer than the library.
    if ROOT.gROOT.LoadMacro(f"{source}+O") != 0:
        reason = "g++ cannot compile the classes of the events"
        raise UnavailableError("ROOT", reason, f"g++ on {source.name}, for its messages")
    return ROOT
