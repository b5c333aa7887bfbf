"""Messages of Protobuf, through the classes in C++ that protoc makes."""

from __future__ import annotations

import ctypes
import subprocess
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

from adapter_core.errors import UnavailableError
from format_bench.studies.nested.compiled import CompiledClasses, Matrices
from format_bench.studies.nested.events import Answer, Question

SCHEMA = Path(__file__).with_name("events.proto")
SOURCE = Path(__file__).with_name("protobuf_events.cc")


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
        _library(self.build)

    def write(self, prepared: Matrices, path: Path, codec: str) -> None:  # noqa: D102
        del codec
        floats, integers = prepared.floats, prepared.integers
        arrays = floats.shape[1], floats.ctypes.data, integers.ctypes.data
        if not _library(self.build).WriteMessages(bytes(path), self.deep, *arrays):
            raise OSError(f"Protobuf could not write {path.name}")

    def answer(self, path: Path, question: Question) -> Answer:
        """Read message by message, all fields of each."""
        events, total = ctypes.c_long(), ctypes.c_double()
        found = ctypes.byref(events), ctypes.byref(total)
        if not _library(self.build).ReadMessages(bytes(path), self.deep, question == "sparse", *found):
            raise OSError(f"Protobuf could not read {path.name}")
        return Answer(events.value, total.value)


@lru_cache
def _library(build: Path) -> Any:
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
        sources = [str(SOURCE), str(build / "events.pb.cc")]
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
