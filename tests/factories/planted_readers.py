"""Tasks that a compromised reader might carry out, which answer with the error of each attempt."""

from __future__ import annotations

import ctypes
import inspect
import json
import os
import pickle
import resource
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def _tried(attempt: Callable[[], object]) -> str:
    try:
        attempt()
    except OSError as error:
        return type(error).__name__
    return "done"


def spoil(path: str, new: str) -> dict[str, str]:
    """Change a file in all ways, and make others."""
    file = Path(path)
    attempts = {
        "write": lambda: Path(new).write_text("planted", encoding="utf-8"),
        "append": lambda: os.open(path, os.O_WRONLY | os.O_APPEND),
        "cut": lambda: os.truncate(path, 0),
        "remove": file.unlink,
        "mode": lambda: file.chmod(0o777),
        "age": lambda: os.utime(path, (0, 0)),
        "link": lambda: Path(new).symlink_to("/etc"),
        "second name": lambda: os.link(path, Path(tempfile.gettempdir(), "second")),
        "move": lambda: file.rename(Path(tempfile.gettempdir(), "moved")),
    }
    return {name: _tried(attempt) for name, attempt in attempts.items()}


def reach(port: int, path: str, mark: str, pid: int) -> dict[str, str]:
    """Reach a server, other programs and another process."""
    attempts = {
        "connect": lambda: socket.create_connection(("127.0.0.1", port), timeout=5),
        "datagram": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
        "connect locally": lambda: socket.socket(socket.AF_UNIX).connect(path),
        "start": lambda: os.posix_spawn("/bin/sh", ["sh", "-c", f"echo > {mark}"], {}),
        "replace": lambda: os.execv("/bin/sh", ["sh", "-c", f"echo > {mark}"]),
        "fork": os.fork,
        "signal": lambda: os.kill(pid, signal.SIGTERM),
        "trace": lambda: _trace(pid),
        "variables": lambda: Path(f"/proc/{pid}/environ").read_bytes(),
        "memory": lambda: os.open(f"/proc/{pid}/mem", os.O_RDONLY),
    }
    found = {name: _tried(attempt) for name, attempt in attempts.items()}
    return {**found, "variable": os.environ.get("AWS_SECRET_ACCESS_KEY", "")}


def _trace(pid: int) -> None:
    attach = 16
    if ctypes.CDLL(None, use_errno=True).ptrace(attach, pid, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "refused")


def inside(where: str) -> str:
    """Write where it is allowed: in the folder by two threads, and in a temporary file."""
    with tempfile.NamedTemporaryFile() as file, ThreadPoolExecutor(2) as pool:
        file.write(b"x")
        list(pool.map(lambda name: Path(where, name).write_text("x", encoding="utf-8"), "ab"))
    return "done"


def raise_limit() -> str:
    try:
        resource.setrlimit(resource.RLIMIT_DATA, (2**50, 2**50))
    except (OSError, ValueError):
        return "refused"
    return "done"


def allocate(count: int) -> int:
    return len(bytearray(count))


def loop() -> None:
    while True:
        time.sleep(0.01)


def fill(files: int, size: int) -> None:
    """Write files one after the other, then wait."""
    for _ in range(files):
        with tempfile.NamedTemporaryFile(delete=False) as file:
            file.write(b"x" * size)
    time.sleep(60)


def crash() -> None:
    ctypes.string_at(0)


def text() -> str:
    return "a\x1b[31mb"


class _Call:
    def __init__(self, mark: str) -> None:
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (self.mark,)


def forge(kind: str, mark: str) -> None:
    """Put something else in the place of the answer."""
    answer = Path(_request()["answer"])
    if kind == "pickle":
        answer.write_bytes(pickle.dumps(_Call(mark)))
    elif kind == "link":
        _tried(lambda: answer.symlink_to("/etc/passwd"))
    elif kind == "pipe":
        _tried(lambda: os.mkfifo(answer))
    elif kind == "gaps":
        gaps = ["writing outside of its folder", "using\x1b"]
        answer.write_text(json.dumps({"value": 1, "gaps": gaps}), encoding="utf-8")
    else:
        answer.write_text("[]", encoding="utf-8")
    sys.stdout.flush()
    os._exit(0)


def _request() -> dict[str, str]:
    """Return the request of this process."""
    frames = (each.frame.f_locals.get("request") for each in inspect.stack())
    return next(each for each in frames if each)
