"""Audit events of a reader that runs code, or reaches out of its process."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# https://docs.python.org/3/library/audit_events.html. `compile` is not among them: ast.literal_eval, by
# which NumPy parses a header, compiles what it never runs.
_EVENTS = frozenset(
    {
        "ctypes.dlopen",
        "exec",
        "import",
        "marshal.loads",
        "os.exec",
        "os.fork",
        "os.posix_spawn",
        "os.spawn",
        "os.system",
        "pickle.find_class",
        "socket.bind",
        "socket.connect",
        "socket.getaddrinfo",
        "subprocess.Popen",
    }
)

_watching: list[list[str]] = []


@contextmanager
def code_events() -> Iterator[list[str]]:
    """Provide a list that receives the events of the block, each with its arguments.

    Libraries import modules in their first call, so a call to be watched needs one before it.
    """
    _install()
    found: list[str] = []
    _watching.append(found)
    try:
        yield found
    finally:
        _watching.remove(found)


@functools.cache
def _install() -> None:
    sys.addaudithook(_note)  # a hook stays as long as its process


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if _watching and event in _EVENTS:
        for found in _watching:
            found.append(f"{event}{arguments!r:.200}")
