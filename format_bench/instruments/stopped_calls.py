"""Processes that the kernel stops at each call that may change files, until a supervisor answers.

https://man7.org/linux/man-pages/man2/seccomp_unotify.2.html
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import functools
import os
import platform
import struct
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from adapter_core.errors import UnavailableError
from data_generator.confinement.bpf import (
    ALLOW,
    ERRNO,
    MACHINES,
    finish,
    install,
    instruction,
    jump_if,
    load,
)

_PR_SET_NO_NEW_PRIVS = 38

# Action of a filter that asks the supervisor, and the flag of seccomp(2) that returns its descriptor.
_ASK, _NEW_LISTENER = 0x7FC00000, 8

# Requests of ioctl(2), and the flag of an answer that lets the call be made.
_RECEIVE, _SEND, _CONTINUE = 0xC0502100, 0xC0182101, 1
_QUESTION, _ANSWER = struct.Struct("=QIIiIQ6Q"), struct.Struct("=QqiI")

# Calls that are recorded: name, number on x86_64, number on aarch64; "-" where it is missing.
_RECORDED = """
write 1 64, writev 20 66, pwrite 18 68, pwritev 296 70, open 2 -, creat 85 -, openat 257 56, mmap 9 222,
truncate 76 45, ftruncate 77 46, rename 82 -, renameat 264 38, renameat2 316 276, mkdir 83 -,
mkdirat 258 34, rmdir 84 -, unlink 87 -, unlinkat 263 35, link 86 -, linkat 265 37, fsync 74 82,
fdatasync 75 83, msync 26 227, sync 162 81, syncfs 306 267
"""
# Calls that have a substitute among those.
_REFUSED = """
openat2 437 437, io_uring_setup 425 425, splice 275 76, sendfile 40 71, copy_file_range 326 285,
pwritev2 328 287, fallocate 285 47
"""

_WRITES_FILE = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_PROT_WRITE, _MAP_SHARED, _MAP_ANONYMOUS = 2, 1, 0x20

RECORD, PERMITTING = "the record of file calls", "a machine that permits seccomp"
"""Name for messages, and the advice where it cannot be made."""

AT_FDCWD = -100
"""The process's own folder, in place of a folder's descriptor."""

_PAGE_BYTES = 4096

# A path in the memory of the process is read in pieces, since the next page may not be there.
_PATH_BYTES = 4096


def check_available() -> None:
    """Check that this machine can record calls.

    Raises
    ------
    UnavailableError
        If it cannot.
    """
    if platform.system() != "Linux" or platform.machine() not in MACHINES:
        here = f"this is {platform.system()} with {platform.machine()}"
        raise UnavailableError(RECORD, here, f"Linux with {' or '.join(MACHINES)}")


@dataclass(frozen=True)
class StoppedCall:
    """A call before it is made; the process waits until there is an answer."""

    name: str
    given: tuple[int, ...]
    """The arguments: numbers, and addresses in the memory of the process."""
    pid: int
    """Of the thread."""
    cookie: int
    """The kernel's name of the call."""

    def memory(self, address: int, size: int) -> bytes:
        """Return bytes of its memory."""
        with open(f"/proc/{self.pid}/mem", "rb", 0) as memory:  # noqa: PTH123 (a device)
            memory.seek(address)
            found = bytearray()
            while len(found) < size and (part := memory.read(size - len(found))):
                found += part
            return bytes(found)

    def path(self, folder: int, address: int) -> str:
        """Return a path that it names, absolute."""
        found = b""
        while b"\0" not in found and len(found) < _PATH_BYTES:
            at = address + len(found)
            found += self.memory(at, _PAGE_BYTES - at % _PAGE_BYTES)
        named = os.fsdecode(found.partition(b"\0")[0])
        if named.startswith("/"):
            return named
        return f"{self.opened(folder)}/{named}"

    def opened(self, descriptor: int) -> str:
        """Return the path of an open file."""
        number = _signed(descriptor)
        return os.readlink(  # noqa: PTH115 (names such as "pipe:[1]" are no paths)
            f"/proc/{self.pid}/{'cwd' if number == AT_FDCWD else f'fd/{number}'}"
        )

    def position(self, descriptor: int) -> tuple[int, int]:
        """Return the offset of an open file, and the flags that it was opened with."""
        text = Path(f"/proc/{self.pid}/fdinfo/{_signed(descriptor)}").read_text(encoding="ascii")
        facts = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
        return int(facts["pos"]), int(facts["flags"], 8)

    def mapped(self, address: int) -> str:
        """Return the path of the file that is mapped at an address; empty if none is."""
        for line in Path(f"/proc/{self.pid}/maps").read_text(encoding="utf-8").splitlines():
            span, *facts = line.split(maxsplit=5)
            start, end = (int(each, 16) for each in span.split("-"))
            if start <= address < end:
                return facts[4] if len(facts) > 4 else ""  # noqa: PLR2004 (the path is the last)
        return ""


def _signed(argument: int) -> int:
    """Return the number that the lower half of an argument is, with its sign."""
    return ctypes.c_int32(argument & 0xFFFFFFFF).value


def _table(text: str) -> dict[str, int]:
    """Return the numbers of calls by name, on this machine."""
    column = MACHINES[platform.machine()][2]
    entries = (entry.split() for entry in text.replace("\n", " ").split(","))
    return {entry[0]: int(entry[column]) for entry in entries if entry[column] != "-"}


@functools.cache
def _names() -> dict[int, str]:
    return {number: name for name, number in _table(_RECORDED).items()}


def listen() -> int:
    """Let the kernel stop this process from now on; return the supervisor's descriptor.

    Raises
    ------
    UnavailableError
        If the kernel refuses.
    """
    architecture, number, _ = MACHINES[platform.machine()]
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    found = install(_program(architecture), _NEW_LISTENER, number)
    if found < 0:
        reason = f"the kernel refuses: {os.strerror(ctypes.get_errno())}"
        raise UnavailableError(RECORD, reason, PERMITTING)
    return found


def receive(listener: int) -> StoppedCall | None:
    """Return the call of a process that has been stopped; None if it is gone, or was interrupted."""
    question = bytearray(_QUESTION.size)
    try:
        fcntl.ioctl(listener, _RECEIVE, question)
    except (FileNotFoundError, InterruptedError):
        return None
    cookie, pid, _, number, _, _, *given = _QUESTION.unpack(question)
    return StoppedCall(_names()[number], tuple(given), pid, cookie)


def answer(listener: int, call: StoppedCall, error: int) -> None:
    """Let a call be made, or fail with an error's number; one whose process is gone needs no answer."""
    flags = 0 if error else _CONTINUE
    with suppress(FileNotFoundError):
        fcntl.ioctl(listener, _SEND, _ANSWER.pack(call.cookie, 0, -error, flags))


def _program(architecture: int) -> bytes:
    code = [load(4), jump_if(architecture, 1, 0), finish(ALLOW), load(0)]
    for name, number in _table(_REFUSED).items():
        error = errno.EOPNOTSUPP if name == "fallocate" else errno.ENOSYS
        code += [jump_if(number, 0, 1), finish(ERRNO | error)]
    for name, number in _table(_RECORDED).items():
        if name in {"open", "openat"}:
            # Only files that are opened for writing.
            flags = load(16 + 8 * (1 if name == "open" else 2))
            code += [jump_if(number, 0, 4), flags, instruction(0x45, 0, 1, _WRITES_FILE)]
            code += [finish(_ASK), finish(ALLOW)]
        elif name == "mmap":
            # Only files that are mapped for shared stores.
            code += [jump_if(number, 0, 7), load(16 + 8 * 2), instruction(0x45, 0, 4, _PROT_WRITE)]
            code += [load(16 + 8 * 3), instruction(0x54, 0, 0, _MAP_SHARED | _MAP_ANONYMOUS)]
            code += [jump_if(_MAP_SHARED, 0, 1), finish(_ASK), finish(ALLOW)]
        else:
            code += [jump_if(number, 0, 1), finish(_ASK)]
    return b"".join([*code, finish(ALLOW)])
