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

import os
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

from format_bench.instruments import stopped_calls
from format_bench.instruments.stopped_calls import AT_FDCWD, StoppedCall

_AT_REMOVEDIR, _RENAME_NOREPLACE, _MS_SYNC = 0x200, 1, 4

_PAGE_BYTES = 4096

# Between two looks at a process that makes no calls.
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
        """Record in the block the calls of a child from its call of the given function on."""
        here, there = socket.socketpair()
        thread = threading.Thread(target=self._follow, args=(here,), daemon=True)

        def watched() -> None:
            listener = stopped_calls.listen()
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
            if events and (stopped := stopped_calls.receive(listener)):
                self._answer(listener, stopped)

    def _answer(self, listener: int, stopped: StoppedCall) -> None:
        decision = PASS
        # The process may be gone.
        with suppress(FileNotFoundError, ProcessLookupError):
            call = self._decoded(stopped)
            if call is not None and not self._is_killed:
                decision = self._decided(stopped.pid, call)
        if not self._is_killed:
            stopped_calls.answer(listener, stopped, decision)

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

    def _decoded(self, stopped: StoppedCall) -> FileCall | None:
        """Return a call; None if it changes nothing below the folder."""
        given = stopped.given
        match stopped.name:
            case "write" | "pwrite" | "writev" | "pwritev":
                return self._write(stopped)
            case "open" | "creat" | "openat":
                return self._open(stopped)
            case "mmap":
                path = self._below(stopped.opened(given[4]))
                if path is not None:
                    self._mapped.setdefault(path, Path(self._folder, path).read_bytes())
                return None
            case "truncate":
                return self._on(stopped.path(AT_FDCWD, given[0]), Kind.RESIZE, given[1])
            case "ftruncate":
                return self._on(stopped.opened(given[0]), Kind.RESIZE, given[1])
            case "fsync" | "fdatasync":
                return self._on(stopped.opened(given[0]), Kind.SYNC)
            case "msync":
                mapped = stopped.mapped(given[0]) if given[2] & _MS_SYNC else ""
                return self._on(mapped, Kind.SYNC)
            case "sync" | "syncfs":
                return FileCall(Kind.SYNC, "", of_all=True)
            case _:
                return self._of_names(stopped)

    def _on(self, found: str, kind: Kind, at: int = 0) -> FileCall | None:
        path = self._below(found)
        return None if path is None else FileCall(kind, path, at=at)

    def _write(self, stopped: StoppedCall) -> FileCall | None:
        name, given = stopped.name, stopped.given
        path = self._below(stopped.opened(given[0]))
        if path is None:
            return None
        at, flags = stopped.position(given[0])
        size = Path(self._folder, path).stat().st_size
        if name.startswith("p"):
            at = given[3]
        elif flags & os.O_APPEND:
            at = size
        vector = [(given[1], given[2])]
        if name.endswith("v"):
            found = stopped.memory(given[1], 16 * given[2])
            vector = list(struct.iter_unpack("=QQ", found))
        data = b"".join(stopped.memory(*each) for each in vector)
        grows = at + len(data) > size
        is_synced = bool(flags & os.O_DSYNC)
        return FileCall(Kind.WRITE, path, data, at, needs_space=grows, is_synced=is_synced)

    def _open(self, stopped: StoppedCall) -> FileCall | None:
        folder, name, *rest = stopped.given if stopped.name == "openat" else (AT_FDCWD, *stopped.given)
        flags = os.O_CREAT | os.O_TRUNC if stopped.name == "creat" else rest[0]
        found = stopped.path(folder, name)
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

    def _of_names(self, stopped: StoppedCall) -> FileCall | None:
        """Return a call that changes names."""
        name, given = stopped.name, stopped.given
        base = name.removesuffix("2").removesuffix("at")
        if base == name:  # without descriptors of folders
            given = (AT_FDCWD, given[0], AT_FDCWD, *given[1:])
        path = self._below(stopped.path(given[0], given[1]))
        if base in {"rename", "link"}:
            new = self._below(stopped.path(given[2], given[3]))
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
