"""Recorder of the reads that a call makes from a file or directory.

The call runs in a fresh process with a mount namespace of its own. There a recording file system covers
the file. So the path is the same, nobody else sees the mount, and the kernel removes it with the
last of these processes, whatever ends them.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import platform
import signal
import stat
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.errors import ReadsNotMappedError, UnavailableError
from data_generator.confinement.kernel import die_with
from format_bench.instruments import isolation, page_cache
from format_bench.instruments.read_map.fuse import RecordingServer
from format_bench.instruments.read_map.reads import READS, Method, ReadMap

if TYPE_CHECKING:
    import numpy as np

DEVICE = "/dev/fuse"

# Each read is a round trip to the recording process, so answers take several times as long. Chosen, not
# measured.
LIMIT_SECONDS = 600.0

# linux/sched.h, linux/mount.h, linux/prctl.h and linux/seccomp.h.
CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
MS_RDONLY, MS_REC, MS_PRIVATE = 1, 0x4000, 1 << 18

# By platform.machine(): its number in audit.h, and the numbers of fadvise64, readahead and madvise.
SYSTEM_CALLS = {"x86_64": (0xC000003E, 221, 187, 28), "aarch64": (0xC00000B7, 223, 213, 233)}
MADV_WILLNEED = 3

PR_SET_SECCOMP, SECCOMP_MODE_FILTER, PR_SET_NO_NEW_PRIVS = 22, 2, 38
# Operations of the filter's machine: load a word, jump if equal, return.
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, RETURN_ZERO = 0x7FFF0000, 0x00050000

_HINT = "Linux 6.6 or later as root, or as a user who may open /dev/fuse and make a user namespace"


def reads_of(
    call: Callable[[Path], Any],
    path: Path,
    *,
    limit_seconds: float = LIMIT_SECONDS,
    method: Method | None = None,
) -> ReadMap:
    """Call `call(path)` in a fresh process, and return the map of its reads below the path.

    Parameters
    ----------
    call : callable
        A function of a module, or a partial of one. Its result becomes the map's `value`, if it can be
        pickled.
    path : Path
        A file or directory that nobody writes meanwhile. The call cannot write there either.
    limit_seconds : float
        Time after which the process is killed.
    method : Method, optional
        By default `Method.EXACT` where it is permitted, else `Method.RESIDENCY`.

    Raises
    ------
    FileNotFoundError
        If the path does not exist.
    UnavailableError
        If an exact map is asked for and is not permitted here.
    ReadsNotMappedError
        If the call raised an error, crashed or took too long.
    """
    path = path.resolve(strict=True)
    if method is not Method.RESIDENCY:
        reason = reason_against_exact()
        if reason and method is Method.EXACT:
            raise UnavailableError("the exact map of reads", reason, _HINT)
        method = Method.RESIDENCY if reason else Method.EXACT
    step = recorded if method is Method.EXACT else resident
    outcome = isolation.run(step, call, path, limit_seconds=limit_seconds)
    if outcome.status:
        raise ReadsNotMappedError(outcome.status, outcome.sentence)
    found: ReadMap = outcome.value
    return found


@functools.cache
def reason_against_exact() -> str | None:
    """Return the reason why exact maps are not possible here, or None if they are."""
    outcome = isolation.run(_mount_probe, limit_seconds=30)
    return outcome.value if outcome.status is None else outcome.sentence


def _mount_probe(device: str = DEVICE) -> str | None:
    try:
        covered(Path(__file__).resolve(), device)
    except OSError as error:
        return error.strerror or str(error)
    return None


def recorded(call: Callable[[Path], Any], path: Path) -> ReadMap:
    """Return the exact map of the reads of a call; only for a process of its own, which it changes."""
    files = sizes_of(path)
    reads, names = covered(path)
    start = time.monotonic()
    value = call(path)
    return ReadMap(Method.EXACT, files, _table(reads, names, list(files), start), None, value)


def resident(call: Callable[[Path], Any], path: Path) -> ReadMap:
    """Return the map of the pages in the page cache after a cold call.

    Raises
    ------
    NotColdError
        If the file cannot be evicted from the page cache, or that cannot be proven.
    """
    import numpy as np

    files = sizes_of(path)
    page_cache.make_cold(path)
    value = call(path)
    # Each page a read of its own, and then runs of them one.
    rows = []
    for number, (name, size) in enumerate(files.items()):
        states = np.frombuffer(page_cache.page_states(path / name if name else path), np.uint8) & 1
        edges = np.flatnonzero(np.diff(states, prepend=0, append=0)) * mmap.PAGESIZE
        rows += [
            (number, 0, first, min(end, size) - first, 0.0)
            for first, end in edges.reshape(-1, 2).tolist()
        ]
    return ReadMap(
        Method.RESIDENCY, files, np.array(rows, READS), page_cache.read_ahead_bytes(path), value
    )


def sizes_of(path: Path) -> dict[str, int]:
    """Return the bytes of each file below a path by its relative name, which is empty for a file."""
    files = [each for each in page_cache.files_of(path) if not each.is_symlink()]
    return {str(file.relative_to(path)) if file != path else "": file.stat().st_size for file in files}


def covered(path: Path, device_name: str = DEVICE) -> tuple[int, int]:
    """Cover a path by a recording file system that only this process and its children see.

    Parameters
    ----------
    path : Path
        A file or directory, without symbolic links.
    device_name : str
        Device of the kernel's FUSE.

    Returns
    -------
    tuple of int
        Descriptors of the reads and of the names, as in `RecordingServer`.

    Raises
    ------
    OSError
        If the system does not permit it; the message is a phrase for users.
    """
    below = os.open(path, os.O_PATH)
    _enter_namespace()
    try:
        device = os.open(device_name, os.O_RDWR)
    except OSError as error:
        raise OSError(f"{device_name} cannot be opened ({error.strerror})") from error
    kind = stat.S_IFMT(path.stat().st_mode)
    options = f"fd={device},rootmode={kind:o},user_id={os.getuid()},group_id={os.getgid()}"
    _call("mount", b"format-bench", os.fsencode(path), b"fuse", MS_RDONLY, options.encode())
    reads, names = os.memfd_create("reads"), os.memfd_create("names")
    is_ready, ready = os.pipe()
    reader = os.getpid()
    # Another process than the reader: a page fault keeps Python's lock until the server has answered.
    if os.fork() == 0:
        _serve(RecordingServer(device, below, reads, names, ready), reader)
    # Were they open here, the reader would wait for ever for a server that was killed.
    os.close(device)
    os.close(ready)
    os.close(below)
    answer = os.read(is_ready, 1)
    os.close(is_ready)
    if answer != b"\1":
        raise OSError("the kernel does not map files that FUSE reads directly (Linux 6.6 does)")
    _ignore_advice()
    return reads, names


def _ignore_advice() -> None:
    """Ignore advice on future reads in this process and its children.

    After posix_fadvise(2) and readahead(2) the kernel fills the page cache, which direct reads pass by,
    so that all would count twice; after madvise(2) it reads pages that may never be touched.
    """
    if platform.machine() not in SYSTEM_CALLS:
        return
    machine, fadvise, readahead, madvise = SYSTEM_CALLS[platform.machine()]
    # Of the data of a system call, the number is at byte 0, the machine at byte 4, and the third
    # argument at byte 32 (seccomp(2)). Jumps are counted from the next step.
    steps = [
        (LOAD, 0, 0, 4),
        (JUMP_IF_EQUAL, 0, 6, machine),
        (LOAD, 0, 0, 0),
        (JUMP_IF_EQUAL, 5, 0, fadvise),
        (JUMP_IF_EQUAL, 4, 0, readahead),
        (JUMP_IF_EQUAL, 0, 2, madvise),
        (LOAD, 0, 0, 32),
        (JUMP_IF_EQUAL, 1, 0, MADV_WILLNEED),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, RETURN_ZERO),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *each) for each in steps))
    program = struct.pack("@HP", len(steps), ctypes.addressof(code))
    _call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _call("prctl", PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0)


def _enter_namespace() -> None:
    uid, gid = os.getuid(), os.getgid()
    try:
        _call("unshare", CLONE_NEWNS)
    except OSError:
        _call("unshare", CLONE_NEWUSER | CLONE_NEWNS)
        # Only so may a user map the own group.
        Path("/proc/self/setgroups").write_bytes(b"deny")
        Path("/proc/self/uid_map").write_bytes(b"0 %d 1" % uid)
        Path("/proc/self/gid_map").write_bytes(b"0 %d 1" % gid)
    # Else the mount would show up outside, too.
    _call("mount", b"none", b"/", None, MS_REC | MS_PRIVATE, None)


def _serve(server: RecordingServer, reader: int) -> None:
    """Serve until the reader ends, and end this process."""
    die_with(reader)
    try:
        # An interrupt from the keyboard reaches all processes of the group; the reader still reads.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        server.serve()
    finally:
        os._exit(0)


def _call(name: str, *arguments: bytes | int | None) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    numbers = [ctypes.c_ulong(each) if isinstance(each, int) else each for each in arguments]
    if getattr(libc, name)(*numbers):
        number = ctypes.get_errno()
        raise OSError(number, f"{name} is not permitted ({os.strerror(number)})")


def _table(reads: int, names: int, files: list[str], start: float) -> np.ndarray:
    """Return the reads with the numbers of `files`."""
    import numpy as np

    looked_up = os.pread(names, os.fstat(names).st_size, 0).split(b"\0")[:-1]
    numbers = {os.fsencode(name): number for number, name in enumerate(files)}
    # Directories have names too, but are not read.
    new = np.array([numbers.get(each, -1) for each in looked_up], np.int32)
    found = np.frombuffer(os.pread(reads, os.fstat(reads).st_size, 0), np.dtype(READS)).copy()
    found["file"] = new[found["file"]]
    found["seconds"] -= start
    return found
