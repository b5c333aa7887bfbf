"""Read-only FUSE file system over a file or directory, which records each read.

It speaks the kernel's protocol (version 7.38, linux/fuse.h) itself: libfuse 3.14 cannot ask for memory
maps of files that are read directly. Each read(2) arrives as it was made, in pieces of at most 1 MiB,
and each first touch of a mapped page as a read of that page, without read-ahead.
"""

from __future__ import annotations

import errno
import os
import stat
import struct
import time
from enum import IntEnum
from pathlib import Path


class Operation(IntEnum):
    """Requests of the kernel that are answered, or that take no answer."""

    LOOKUP = 1
    FORGET = 2
    GETATTR = 3
    READLINK = 5
    OPEN = 14
    READ = 15
    STATFS = 17
    RELEASE = 18
    FLUSH = 25
    INIT = 26
    OPENDIR = 27
    READDIR = 28
    RELEASEDIR = 29
    INTERRUPT = 36
    BATCH_FORGET = 42


RECORD = struct.Struct("<IIQQd")
"""A read: number of the file, thread, offset in bytes, bytes, seconds of the monotonic clock."""

# Flags of INIT. The last two need the first: they are in its second word.
MAX_PAGES = 1 << 22
INIT_EXT = 1 << 30
DIRECT_IO_ALLOW_MMAP = 1 << 36
WANTED = MAX_PAGES | INIT_EXT | DIRECT_IO_ALLOW_MMAP

# Flag of OPEN: reads pass the page cache by, so that repeats and exact sizes reach the server.
FOPEN_DIRECT_IO = 1

# Limits of the protocol, include/uapi/linux/fuse.h; a request fits them with its head.
PAGES_A_REQUEST = 256
MAX_WRITE = 1 << 17
REQUEST_BYTES = 1 << 18
# Names and attributes never change while a map is made: no request is made for them again.
CACHED_SECONDS = 3600

_HEADER = struct.Struct("<IIQQIIII")
# Of a file system, the numbers of blocks and files are not known, but the longest name is.
_FIXED: dict[int, bytes] = {
    Operation.STATFS: struct.pack("<5Q4I24x", 0, 0, 0, 0, 0, 4096, 255, 4096, 0),
    Operation.OPENDIR: struct.pack("<Q2I", 0, 0, 0),
    Operation.RELEASE: b"",
    Operation.RELEASEDIR: b"",
    Operation.FLUSH: b"",
}
_UNANSWERED = {Operation.FORGET, Operation.INTERRUPT, Operation.BATCH_FORGET}


class RecordingServer:
    """Server of one mount: it answers the kernel's requests until the file system is unmounted.

    Parameters
    ----------
    device : int
        Descriptor of /dev/fuse that the file system was mounted with.
    root : int
        Descriptor of the file or directory below, opened before the mount covered it.
    reads : int
        Descriptor of the file that takes a `RECORD` for each read.
    names : int
        Descriptor of the file that takes the relative path of each file that was looked up, in the order
        of their numbers in the records, each ended by NUL. The first is the root, and empty.
    ready : int
        Descriptor of a pipe that takes a byte after the kernel's first request: 1 if it maps files that
        are read directly, else 0.
    """

    def __init__(self, device: int, root: int, reads: int, names: int, ready: int) -> None:
        self._device, self._reads, self._names, self._ready = device, reads, names, ready
        self._root = root
        self._paths: list[str] = []
        self._nodes: dict[str, int] = {}
        self._node_of("")

    def serve(self) -> None:
        """Answer requests until the file system is unmounted."""
        while True:
            try:
                request = os.read(self._device, REQUEST_BYTES)
            except OSError as error:
                # A request was interrupted before it was read.
                if error.errno in (errno.ENOENT, errno.EINTR, errno.EAGAIN):
                    continue
                if error.errno == errno.ENODEV:
                    return
                raise
            _, code, unique, node, _, _, thread, _ = _HEADER.unpack_from(request)
            if code in _UNANSWERED:
                continue
            try:
                data, failure = self._answer(code, node, thread, request[_HEADER.size :]), 0
            except OSError as error:
                data, failure = b"", error.errno or errno.EIO
            try:
                os.write(self._device, struct.pack("<IiQ", 16 + len(data), -failure, unique) + data)
            except OSError as error:
                # The process that asked was killed.
                if error.errno != errno.ENOENT:
                    raise

    def _answer(self, code: int, node: int, thread: int, body: bytes) -> bytes:
        match code:
            case Operation.READ:
                return self._read(node, thread, body)
            case Operation.LOOKUP:
                return self._entry(node, body.rstrip(b"\0").decode("utf-8", "surrogateescape"))
            case Operation.GETATTR:
                return struct.pack("<Q2I", CACHED_SECONDS, 0, 0) + self._attributes(node)
            case Operation.READDIR:
                return self._listing(node, *struct.unpack_from("<8xQI", body))
            case Operation.READLINK:
                return bytes(self._below(node).readlink())
            case Operation.INIT:
                return self._initial(body)
            case Operation.OPEN:
                descriptor = os.open(self._below(node), os.O_RDONLY)
                return struct.pack("<Q2I", descriptor, FOPEN_DIRECT_IO, 0)
            case Operation.RELEASE:
                os.close(struct.unpack_from("<Q", body)[0])
        if code in _FIXED:
            return _FIXED[code]
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    def _initial(self, body: bytes) -> bytes:
        _, minor, _, low = struct.unpack_from("<4I", body)
        high = struct.unpack_from("<I", body, 16)[0] if low & INIT_EXT else 0
        taken = (high << 32 | low) & WANTED
        os.write(self._ready, bytes([bool(taken & DIRECT_IO_ALLOW_MMAP)]))
        # The third number is the read-ahead.
        return struct.pack(
            "<IIIIHHIIHHI28x",
            *(7, min(minor, 38), 0, taken & 0xFFFFFFFF),
            *(12, 9, MAX_WRITE, 1, PAGES_A_REQUEST, 0, taken >> 32),
        )

    def _read(self, node: int, thread: int, body: bytes) -> bytes:
        descriptor, offset, size = struct.unpack_from("<QQI", body)
        seconds = time.monotonic()
        data = os.pread(descriptor, size, offset)
        # Requests behind the end of a file read nothing.
        if data:
            os.write(self._reads, RECORD.pack(node - 1, thread, offset, len(data), seconds))
        return data

    def _entry(self, parent: int, name: str) -> bytes:
        path = str(Path(self._paths[parent - 1], name))
        self._place(path).lstat()
        node = self._node_of(path)
        head = struct.pack("<4Q2I", node, 0, CACHED_SECONDS, CACHED_SECONDS, 0, 0)
        return head + self._attributes(node)

    def _node_of(self, path: str) -> int:
        if path not in self._nodes:
            os.write(self._names, os.fsencode(path) + b"\0")
            self._paths.append(path)
            self._nodes[path] = len(self._paths)
        return self._nodes[path]

    def _place(self, path: str) -> Path:
        # Through the descriptor: its own path leads to this file system.
        return Path(f"/proc/self/fd/{self._root}", path)

    def _below(self, node: int) -> Path:
        return self._place(self._paths[node - 1])

    def _attributes(self, node: int) -> bytes:
        # The root's place is itself a link.
        facts = self._below(node).stat(follow_symlinks=node == 1)
        owner = os.getuid(), os.getgid()
        return struct.pack(
            "<6Q3I7I",
            *(facts.st_ino, facts.st_size, facts.st_blocks),
            *(int(facts.st_atime), int(facts.st_mtime), int(facts.st_ctime)),
            *(0, 0, 0, facts.st_mode, facts.st_nlink, *owner, 0, 4096, 0),
        )

    def _listing(self, node: int, offset: int, size: int) -> bytes:
        folder = self._below(node)
        entries = [(".", stat.S_IFDIR), ("..", stat.S_IFDIR)]
        entries += [(each.name, each.lstat().st_mode) for each in sorted(folder.iterdir())]
        answer = b""
        for number, (name, mode) in enumerate(entries[offset:], offset + 1):
            encoded = os.fsencode(name)
            # The kernel asks for more from the number of the last entry on.
            entry = struct.pack("<QQII", number, number, len(encoded), stat.S_IFMT(mode) >> 12) + encoded
            entry += bytes(-len(entry) % 8)
            if len(answer) + len(entry) > size:
                break
            answer += entry
        return answer
