"""Emulated media: a slow disk, a compressed file system, a RAM disk, a loop device; as root, on Linux.

All but the RAM disk are a file on another medium, behind a loop device with direct I/O: reads that the
page cache does not answer reach that file's medium, whose own caches serve them faster than its disk.
The slow disk adds the time of a disk with heads (slow_disk.py): loop device -> FUSE file of nbdfuse ->
nbdkit. No kernel module is needed beyond loop and FUSE.

nbdkit: https://libguestfs.org/nbdkit.1.html, nbdfuse: https://libguestfs.org/nbdfuse.1.html
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core.errors import MediumError, UnknownNameError
from format_bench.media import probe, registry, slow_disk
from format_bench.media.facts import mounts
from format_bench.media.registry import EmulatedMedium

if TYPE_CHECKING:
    from format_bench.media.probe import Probe

SEEK_SECONDS, BYTES_PER_SECOND = 0.008, 150e6
"""Of a disk with 7,200 revolutions per minute: a third of a stroke and half a revolution."""

TOLERANCE = 0.25
"""Beyond which obtained figures of a slow disk are not those wanted, as a share."""

# Read-ahead of a new disk's queue; loop devices inherit the read-ahead of the medium below.
_READ_AHEAD_KB = 128

# Of real-time processes: above the usual ones, below the kernel's own.
_PRIORITY = 5

# Time in which a process must appear or end.
_DEADLINE_SECONDS = 10.0

_LEAST_BYTES = 256 << 20

_SOCKETS = Path("/run")


@dataclass(frozen=True)
class Model:
    """Figures that a slow disk shall have."""

    seek_seconds: float = SEEK_SECONDS
    bytes_per_second: float = BYTES_PER_SECOND

    @property
    def random_read_seconds(self) -> float:
        """Time of a read of 4 KiB at a random place."""
        return self.seek_seconds + probe.BLOCK_BYTES / self.bytes_per_second

    def __str__(self) -> str:
        """Return the wanted figures in words."""
        return (
            f"random 4 KiB {1e3 * self.random_read_seconds:.3g} ms, "
            f"sequential {self.bytes_per_second / 1e6:,.0f} MB/s"
        )

    def check(self, found: Probe) -> None:
        """Compare the model with measured figures.

        Raises
        ------
        MediumError
            If one is further off than `TOLERANCE`.
        """
        pairs = (
            (found.random_read_seconds, self.random_read_seconds),
            (found.sequential_bytes_per_second, self.bytes_per_second),
        )
        if any(abs(obtained / wanted - 1) > TOLERANCE for obtained, wanted in pairs):
            raise MediumError(
                f"the slow disk is not the one wanted, {self}, but has {found}: more than "
                f"{TOLERANCE:.0%} off; try again when the machine has less to do"
            )


@dataclass(frozen=True)
class Kind:
    """A kind of emulated medium."""

    label: str
    summary: str
    tools: tuple[str, ...]
    """Programs that it needs, with their Debian package where that has another name."""
    format: tuple[str, ...] = ()
    """The command that makes the file system on a file; none in memory."""
    mount_options: str = "noatime"


_PACKAGES = {
    "mkfs.btrfs": "btrfs-progs",
    "mkfs.ext4": "e2fsprogs",
    "nbdfuse": "libnbd-bin",
    "nbdkit": "nbdkit and nbdkit-plugin-python",
}
_EXT4 = ("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0")

KINDS = {
    "hdd": Kind(
        "emulated hdd",
        "disk with heads: seeks of 8 ms, 150 MB/s, ext4",
        ("losetup", "mkfs.ext4", "nbdkit", "nbdfuse"),
        _EXT4,
    ),
    "btrfs": Kind(
        "emulated btrfs zstd",
        "compressed file system: btrfs with zstd level 3 on a loop device",
        ("losetup", "mkfs.btrfs"),
        ("mkfs.btrfs", "-q"),
        "noatime,compress-force=zstd:3",
    ),
    "ext4": Kind("emulated ext4", "ext4 on a loop device", ("losetup", "mkfs.ext4"), _EXT4),
    "ram": Kind("emulated ram disk", "tmpfs: files are pages of memory", ("mount",)),
}


def make(kind_name: str, folder: Path, size_bytes: int, model: Model | None = None) -> EmulatedMedium:
    """Make a medium, mount it on a folder, and measure it.

    Parameters
    ----------
    kind_name : str
        One of `KINDS`.
    folder : Path
        The mount point: made if missing, else empty. The file behind the medium comes beside it.
    size_bytes : int
        Size of the medium.
    model : Model, optional
        Figures of a slow disk.

    Raises
    ------
    UnknownNameError
        If the kind is unknown.
    MediumError
        If it cannot be made here, or has other figures than wanted. Nothing of it is left then.
    """
    if kind_name not in KINDS:
        raise UnknownNameError("kind of medium", kind_name, KINDS)
    kind, folder = KINDS[kind_name], folder.resolve()
    _check(kind, folder, size_bytes)
    model = model or Model() if kind_name == "hdd" else None
    label = kind.label
    if model not in {None, Model()}:
        label += f" {model}"
    start = registry.start_time_of(os.getpid())
    wanted = str(model) if model else ""
    medium = EmulatedMedium(folder, label, kind_name, size_bytes, os.getpid(), start, wanted)
    registry.add(medium)
    try:
        _build(medium, kind, model)
        with _hurried() if model else contextlib.nullcontext():
            found = probe.measure(folder)
        if model:
            model.check(found)
    except BaseException as error:
        # Also of an interrupt: a mount would stay until the machine restarts.
        remove(medium)
        if isinstance(error, (OSError, subprocess.SubprocessError)):
            raise MediumError(f"{kind.label}: {_words_of(error)}") from error
        raise
    medium = replace(medium, obtained=str(found))
    registry.add(medium)
    return medium


def remove(medium: EmulatedMedium) -> None:
    """Unmount a medium, end its processes, and remove its files; parts that are missing are skipped.

    Raises
    ------
    MediumError
        If a file on it is in use, or this process may not do that. It stays registered then.
    """
    _require_root()
    _unmount(medium.folder)
    for device in _loop_devices(medium.work_folder):
        _run("losetup", "--detach", device)
    _unmount(medium.work_folder / "fuse")
    socket = _socket(medium.work_folder)
    for process in _processes(socket):
        _end(process)
    socket.unlink(missing_ok=True)
    shutil.rmtree(medium.work_folder, ignore_errors=True)
    registry.forget(medium)


def remove_unfinished() -> list[EmulatedMedium]:
    """Remove media whose maker was killed, and return them."""
    found = [each for each in registry.media() if each.is_unfinished]
    for each in found:
        remove(each)
    return found


def _check(kind: Kind, folder: Path, size_bytes: int) -> None:
    """Refuse before anything is made."""
    _require_root()
    for tool in kind.tools:
        if shutil.which(tool, path=_PATH) is None:
            package = _PACKAGES.get(tool, "util-linux")
            raise MediumError(f"{kind.label}: {tool} is not installed; it is in Debian's {package}")
    if size_bytes < _LEAST_BYTES:
        raise MediumError(f"{kind.label}: {size_bytes / 1e6:.0f} MB are too few; 256M is the least")
    if registry.medium_at(folder) or any(each.point == folder for each in mounts()):
        raise MediumError(f"{folder}: something is mounted there; name another")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise MediumError(f"{folder}: it is not an empty folder; name another")
    parent = next(each for each in folder.parents if each.exists())
    free = shutil.disk_usage(parent).free
    if kind.format and free < size_bytes:
        raise MediumError(f"{folder}: {free / 1e6:,.0f} MB are free beside it; name a smaller --size")


_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


def _require_root() -> None:
    if os.geteuid() != 0:
        raise MediumError("media are made and removed by root alone; call it with sudo")


def _build(medium: EmulatedMedium, kind: Kind, model: Model | None) -> None:
    """Make and mount a medium."""
    medium.folder.mkdir(parents=True, exist_ok=True)
    if not kind.format:
        size = f"size={medium.size_bytes}"
        _run("mount", "-t", "tmpfs", "-o", size, "format-bench", str(medium.folder))
        return
    medium.work_folder.mkdir(mode=0o700)
    disk = medium.work_folder / "disk.img"
    with disk.open("wb") as file:
        file.truncate(medium.size_bytes)
    _run(*kind.format, str(disk))
    backing = _slowed(medium, disk, model) if model else disk
    loop = _run("losetup", "--find", "--show", "--direct-io=on", str(backing))
    queue = Path(f"/sys/block/{Path(loop).name}/queue")
    (queue / "read_ahead_kb").write_text(str(_READ_AHEAD_KB), encoding="ascii")
    _run("mount", "-o", kind.mount_options, loop, str(medium.folder))


def _slowed(medium: EmulatedMedium, disk: Path, model: Model) -> Path:
    """Start the processes of a slow disk; return the slow file."""
    work = medium.work_folder
    socket, fuse = _socket(work), work / "fuse"
    fuse.mkdir()
    rates = f"seek_seconds={model.seek_seconds}", f"bytes_per_second={model.bytes_per_second}"
    script = str(Path(slow_disk.__file__).resolve())
    # It leaves the terminal by itself. In the foreground it would end with this process.
    counts = f"counts={medium.counts_file}"
    _run("nbdkit", "--unix", str(socket), "python", script, f"file={disk}", counts, *rates)
    for process in _processes(socket):
        _hurry(process)
    log = work / "log"
    # Not by subprocess, whose object would wait for a process that stays.
    client = os.posix_spawn(
        "/usr/bin/env",
        ("env", "nbdfuse", str(fuse / "disk"), "--unix", str(socket)),
        os.environ,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(log), os.O_WRONLY | os.O_CREAT, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
    )
    _hurry(client)
    end = time.monotonic() + _DEADLINE_SECONDS
    while not any(each.point.is_relative_to(fuse) for each in mounts()):
        if registry.start_time_of(client) is None or time.monotonic() > end:
            said = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            raise MediumError(f"nbdfuse did not start: {said[-1] if said else 'no message'}")
        time.sleep(0.01)
    return fuse / "disk"


def _socket(work: Path) -> Path:
    """Return the socket of a medium, by its folder of work, whose own path may be too long for one."""
    # Addresses of sockets have 107 characters at most (unix(7)).
    return _SOCKETS / f"format-bench-{hashlib.sha256(os.fsencode(work)).hexdigest()[:16]}.socket"


def _hurry(process: int) -> None:
    """Let a process wake up in time though the machine is busy; its own work is short."""
    with contextlib.suppress(OSError):
        os.sched_setscheduler(process, os.SCHED_FIFO, os.sched_param(_PRIORITY))


@contextlib.contextmanager
def _hurried() -> Iterator[None]:
    """Let this process wake up in time, so that the model is checked and not the machine's load."""
    _hurry(0)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def _unmount(folder: Path) -> None:
    """Unmount all file systems on a folder; wait a while for others that use them.

    A loop device stays on a file until the mount namespaces of other processes that were made meanwhile
    have ended.
    """
    end = time.monotonic() + _DEADLINE_SECONDS
    while any(each.point == folder for each in mounts()):
        try:
            _run("umount", str(folder))
        except MediumError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def _loop_devices(folder: Path) -> Iterator[str]:
    """Yield the loop devices of files below a folder."""
    for path in Path("/sys/block").glob("loop*/loop/backing_file"):
        # A device may just have been detached.
        with contextlib.suppress(OSError):
            if path.read_text(encoding="utf-8").startswith(f"{folder}/"):
                yield f"/dev/{path.parents[1].name}"


def _processes(socket: Path) -> Iterator[int]:
    """Yield the processes whose arguments contain a path."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if os.fsencode(socket) in path.read_bytes().split(b"\0"):
                yield int(path.parent.name)


def _end(process: int) -> None:
    start = registry.start_time_of(process)
    end = time.monotonic() + _DEADLINE_SECONDS
    while start is not None and registry.start_time_of(process) == start:
        late = time.monotonic() > end - _DEADLINE_SECONDS / 2
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL if late else signal.SIGTERM)
        if time.monotonic() > end:
            raise MediumError(f"process {process} of the medium does not end")
        time.sleep(0.02)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(process, os.WNOHANG)


def _run(*command: str) -> str:
    """Return the output of a program.

    Raises
    ------
    MediumError
        If it fails; the message has its last line.
    """
    done = subprocess.run(  # noqa: S603 (our own arguments)
        command, capture_output=True, text=True, check=False, env={**os.environ, "PATH": _PATH}
    )
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise MediumError(f"{command[0]} failed: {said[-1] if said else done.returncode}")
    return done.stdout.strip()


def _words_of(error: Exception) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
