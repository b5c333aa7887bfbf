"""Calls by which a process changes the files of a folder: recorded, refused, or the last of its life.

The kernel stops the process at each such call and asks its supervisor before the call is made
(https://man7.org/linux/man-pages/man2/seccomp_unotify.2.html). Unlike a preloaded library, this sees the
writes of the C library's own buffered files, and programs without that library::

    watcher = Watcher(folder)
    with watcher.following() as watched:
        ...  # fork; the child calls `watched()`, then writes files, and ends
    watcher.calls

Ways to move bytes between files within the kernel are refused as if it lacked them, so that programs
write instead. Stores to mapped files are found by comparing the files at each call.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import functools
import os
import platform
import select
import signal
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
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
_AT_FDCWD, _AT_REMOVEDIR, _RENAME_NOREPLACE, _MS_SYNC = -100, 0x200, 1, 4

_PAGE_BYTES = 4096

# A path in the memory of the process is read in pieces, since the next page may not be there.
_PATH_BYTES = 4096

_MILLISECONDS = 200


class Kind(StrEnum):
    """A change of files; the value is its name in sentences."""

    OPEN = "open"
    WRITE = "write"
    STORE = "store to a mapped file"
    RESIZE = "truncate"
    RENAME = "rename"
    UNLINK = "unlink"
    MKDIR = "mkdir"
    RMDIR = "rmdir"
    LINK = "link"
    SYNC = "sync"


@dataclass(frozen=True)
class FileCall:
    """A call that changes files, or brings them to the device."""

    kind: Kind
    path: str
    """Below the folder; empty for the folder itself."""
    data: bytes = b""
    """Bytes that are written."""
    at: int = 0
    """Offset of the first, or the new length."""
    new_path: str = ""
    """Second name of a renamed or linked file."""
    creates: bool = False
    """Whether a missing file is made."""
    is_exclusive: bool = False
    """Whether the call fails if the file, or the new name, is there already."""
    empties: bool = False
    """Whether a file that is there is emptied."""
    needs_space: bool = False
    """Whether the call fails on a full disk."""
    is_synced: bool = False
    """Whether written bytes are on the device when the call returns."""
    of_all: bool = False
    """Whether the files of the whole system are brought to the device."""

    def __str__(self) -> str:
        size = f", {len(self.data):,} bytes at {self.at:,}" if self.data else ""
        return f"{self.kind} {self.path}{f' to {self.new_path}' if self.new_path else ''}{size}"


PASS, KILL = 0, -1
"""Decisions on a call: it is made, or its process is killed before; any other is an error's number."""

Decide = Callable[[int, FileCall], int]
"""Takes the number of a recorded call, from 0 on, and the call; returns a decision."""


def check_available() -> None:
    """Check that this machine can record calls.

    Raises
    ------
    UnavailableError
        If it cannot.
    """
    if platform.system() != "Linux" or platform.machine() not in MACHINES:
        reason = f"calls are recorded on Linux with {' or '.join(MACHINES)} alone"
        raise UnavailableError(f"{reason}, and this is {platform.system()} with {platform.machine()}")


class Watcher:
    """Supervisor of a process and its threads.

    Parameters
    ----------
    folder : Path
        Changes below it are recorded.
    decide : callable, optional
        Decides about each of them; by default all are made.
    """

    def __init__(self, folder: Path, decide: Decide = lambda _number, _call: PASS) -> None:
        self.calls: list[FileCall] = []
        """The recorded calls in order; the one at which a process was killed is not among them."""
        self.problem = ""
        """Why the record is not whole, as a clause; empty if it is."""
        self._folder, self._decide = str(folder.resolve()), decide
        self._numbered = 0
        self._is_killed = False
        self._mapped: dict[str, bytes] = {}
        """Content of mapped files at the last call."""

    @contextmanager
    def following(self) -> Iterator[Callable[[], None]]:
        """Record in the block what a child does after it has called the given function."""
        here, there = socket.socketpair()
        thread = threading.Thread(target=self._follow, args=(here,), daemon=True)

        def watched() -> None:
            listener = _listener()
            if listener < 0:
                raise UnavailableError(f"the kernel records no calls: {os.strerror(-listener)}")
            socket.send_fds(there, [b"here"], [listener])
            # Else it would outlive the supervisor, for whose answers calls would wait for ever.
            os.close(listener)

        try:
            thread.start()
            yield watched
        finally:
            there.close()
            thread.join()
            here.close()

    def _follow(self, here: socket.socket) -> None:
        _, descriptors, _, _ = socket.recv_fds(here, 4, 1)
        if not descriptors:
            self.problem = "a process was not watched:"
        for listener in descriptors:
            try:
                self._answer_all(listener)
            except Exception as error:
                self.problem = f"calls could not be recorded: {type(error).__name__}: {error}"
            finally:
                # Calls that nobody answers fail.
                os.close(listener)
        self._note_stores()

    def _answer_all(self, listener: int) -> None:
        poll = select.poll()
        poll.register(listener, select.POLLIN)
        while True:
            events = [event for _, event in poll.poll(_MILLISECONDS)]
            if any(event & (select.POLLHUP | select.POLLERR) for event in events):
                return
            if events:
                question = bytearray(_QUESTION.size)
                # The process may be gone, or its call interrupted.
                with suppress(FileNotFoundError, InterruptedError):
                    fcntl.ioctl(listener, _RECEIVE, question)
                    self._answer(listener, *_QUESTION.unpack(question))

    def _answer(
        self, listener: int, cookie: int, pid: int, _flags: int, number: int, *rest: int
    ) -> None:
        decision = PASS
        with suppress(FileNotFoundError, ProcessLookupError):
            call = self._decoded(pid, _numbers()[number], rest[2:])
            if call is not None and not self._is_killed:
                decision = self._decided(pid, call)
        if self._is_killed:
            return
        flags = _CONTINUE if decision == PASS else 0
        with suppress(FileNotFoundError):
            fcntl.ioctl(listener, _SEND, _ANSWER.pack(cookie, 0, -decision, flags))

    def _decided(self, pid: int, call: FileCall) -> int:
        """Return the decision on a call; record it, and all stores before it, if it is made."""
        self._note_stores()
        decision = self._decide(self._numbered, call)
        self._numbered += 1
        if decision == KILL:
            self._is_killed = True
            os.kill(pid, signal.SIGKILL)
        elif decision == PASS:
            self.calls.append(call)
        return decision

    def _note_stores(self) -> None:
        """Record the pages of mapped files that differ from the last call."""
        for path, before in self._mapped.items():
            with suppress(FileNotFoundError):
                content = Path(self._folder, path).read_bytes()
                for start in range(0, len(content), _PAGE_BYTES):
                    page = content[start : start + _PAGE_BYTES]
                    if page != before[start : start + _PAGE_BYTES]:
                        self.calls.append(FileCall(Kind.STORE, path, page, start))
                self._mapped[path] = content

    def _decoded(self, pid: int, name: str, given: tuple[int, ...]) -> FileCall | None:
        """Return a call; None if it changes nothing below the folder."""
        process = _Process(pid)
        match name:
            case "write" | "pwrite" | "writev" | "pwritev":
                return self._write(process, name, given)
            case "open" | "openat" | "creat":
                if name != "openat":
                    given = (_AT_FDCWD, *given)
                flags = os.O_CREAT | os.O_TRUNC if name == "creat" else given[2]
                return self._open(process.path(given[0], given[1]), flags)
            case "mmap":
                path = self._below(process.opened(given[4]))
                if path is not None:
                    self._mapped.setdefault(path, Path(self._folder, path).read_bytes())
                return None
            case "truncate" | "ftruncate":
                whole = name == "truncate"
                path = self._below(
                    process.path(_AT_FDCWD, given[0]) if whole else process.opened(given[0])
                )
                return None if path is None else FileCall(Kind.RESIZE, path, at=given[1])
            case "fsync" | "fdatasync":
                path = self._below(process.opened(given[0]))
                return None if path is None else FileCall(Kind.SYNC, path)
            case "msync":
                path = self._below(process.mapped(given[0])) if given[2] & _MS_SYNC else None
                return None if path is None else FileCall(Kind.SYNC, path)
            case "sync" | "syncfs":
                return FileCall(Kind.SYNC, "", of_all=True)
        return self._of_name(process, name, given)

    def _write(self, process: _Process, name: str, given: tuple[int, ...]) -> FileCall | None:
        path = self._below(process.opened(given[0]))
        if path is None:
            return None
        at, flags = process.position(given[0])
        size = Path(self._folder, path).stat().st_size
        if name.startswith("p"):
            at = given[3]
        elif flags & os.O_APPEND:
            at = size
        vector = [(given[1], given[2])]
        if name.endswith("v"):
            found = process.memory(given[1], 16 * given[2])
            vector = list(struct.iter_unpack("=QQ", found))
        data = b"".join(process.memory(*each) for each in vector)
        grows = at + len(data) > size
        is_synced = bool(flags & os.O_DSYNC)
        return FileCall(Kind.WRITE, path, data, at, needs_space=grows, is_synced=is_synced)

    def _open(self, found: str, flags: int) -> FileCall | None:
        path = self._below(found)
        creates = bool(flags & os.O_CREAT)
        if path is None or not flags & (os.O_CREAT | os.O_TRUNC):
            return None
        return FileCall(
            Kind.OPEN,
            path,
            creates=creates,
            is_exclusive=bool(flags & os.O_EXCL),
            empties=bool(flags & os.O_TRUNC),
            needs_space=creates and not os.path.lexists(found),
        )

    def _of_name(self, process: _Process, name: str, given: tuple[int, ...]) -> FileCall | None:
        """Return a call that changes names."""
        base = name.removesuffix("2").removesuffix("at")
        if base == name:  # without descriptors of folders
            given = (_AT_FDCWD, given[0], _AT_FDCWD, *given[1:])
        path = self._below(process.path(given[0], given[1]))
        if base in {"rename", "link"}:
            new = self._below(process.path(given[2], given[3]))
            if path is None or new is None:
                return None
            is_exclusive = base == "link" or (name == "renameat2" and bool(given[4] & _RENAME_NOREPLACE))
            kind = Kind.RENAME if base == "rename" else Kind.LINK
            return FileCall(
                kind, path, new_path=new, is_exclusive=is_exclusive, needs_space=base == "link"
            )
        if path is None:
            return None
        if name == "unlinkat" and given[2] & _AT_REMOVEDIR:
            base = "rmdir"
        return FileCall(Kind(base), path, needs_space=base == "mkdir")

    def _below(self, path: str) -> str | None:
        """Return a path relative to the folder; None if it is not there, or was removed."""
        found = os.path.normpath(path)
        if found == self._folder:
            return ""
        is_below = found.startswith(f"{self._folder}/") and not found.endswith(" (deleted)")
        return found[len(self._folder) + 1 :] if is_below else None


@dataclass(frozen=True)
class _Process:
    """The memory and descriptors of a process that waits for an answer."""

    pid: int

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
            f"/proc/{self.pid}/{'cwd' if number == _AT_FDCWD else f'fd/{number}'}"
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
def _numbers() -> dict[int, str]:
    return {number: name for name, number in _table(_RECORDED).items()}


def _listener() -> int:
    """Install the filter in this process; return the supervisor's descriptor, or minus an error."""
    architecture, number, _ = MACHINES[platform.machine()]
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    found = install(_program(architecture), _NEW_LISTENER, number)
    return found if found >= 0 else -ctypes.get_errno()


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
