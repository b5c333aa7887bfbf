"""Reader that does the harm that a file names, to check the oracle itself."""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from adapter_core.errors import InvalidDataError
from tools.fuzz.damage import damage_bytes
from tools.fuzz.targets import Target


def _write_natively(path: str) -> None:
    """Write to a file without an event of Python's."""
    libc = ctypes.CDLL(None)
    libc.close(libc.open(path.encode(), os.O_CREAT | os.O_WRONLY, 0o600))


def _connect_natively(url: str) -> None:
    """Connect without an event of Python's."""
    place = urlsplit(url)
    libc = ctypes.CDLL(None)
    descriptor = libc.socket(socket.AF_INET, socket.SOCK_STREAM, 0)
    address = socket.AF_INET.to_bytes(2, sys.byteorder) + place.port.to_bytes(2, "big")
    address += socket.inet_aton(place.hostname) + bytes(8)
    libc.connect(descriptor, address, len(address))
    libc.close(descriptor)


def _spin(_: str) -> None:
    while True:
        pass


def _refuse(text: str) -> None:
    raise InvalidDataError("file", text)


HARM: dict[str, Callable[[str], object]] = {
    "nothing": lambda _: None,
    "refuse": _refuse,
    "run": lambda path: os.system(f"touch {path}"),
    "unpickle": lambda _: pickle.loads(b"cbuiltins\neval\n(S'1'\ntR."),
    "write": lambda path: Path(path).write_text("x", encoding="ascii"),
    "write natively": _write_natively,
    "connect": lambda url: socket.create_connection(("127.0.0.1", urlsplit(url).port)),
    "connect natively": _connect_natively,
    "leak": lambda path: Path(path).read_bytes(),
    "crash": lambda _: os.kill(os.getpid(), signal.SIGSEGV),
    "exit": lambda _: os._exit(3),
    "hang": _spin,
    "allocate": lambda _: len(bytearray(b"x" * 2**20) * 600),
    "fail": lambda _: {}["missing"],
    "print": lambda _: os.write(2, b"warning\n"),
    "control characters": lambda _: _refuse("a\0b"),
    "sleep": lambda seconds: time.sleep(float(seconds)),
}
"""Harm by the first line of a file; the second line is the argument."""


def _obey(path: Path) -> object:
    name, argument = path.read_text(encoding="utf-8").split("\n")
    if name == "change":
        path.write_text("x", encoding="ascii")
    return HARM.get(name, len)(argument)


def target() -> Target:
    """Return the reader."""
    seeds = {"file": lambda path: path.write_text("nothing\n", encoding="utf-8")}
    return Target("harmful", seeds, (damage_bytes,), _obey, is_data=True, cpu_seconds=5)
