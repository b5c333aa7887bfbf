"""Medium of a folder: mount, file system, block device with its queue and counters. Linux only.

Sources: /proc/self/mountinfo (see proc(5)), /sys/dev/block, /sys/class/block and /sys/class/bdi;
https://docs.kernel.org/block/stat.html for the counters. An emulated medium, which the recipe
tools/emulated_medium makes, has a folder beside its mount point with its label and count of seeks.
"""

from __future__ import annotations

import contextlib
import os
import re
import statistics
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Self

MOUNTS = Path("/proc/self/mountinfo")

IN_MEMORY = {"tmpfs", "ramfs", "devtmpfs"}
"""File systems whose files are pages of memory alone."""

_NETWORK = {"nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "glusterfs", "lustre", "afs", "virtiofs"}

# Disks of virtual machines: their flag `rotational` says nothing about the host's disk.
_VIRTUAL = ("vd", "xvd")

# Unit of the kernel's counters, whatever the device's own sectors are.
_SECTOR_BYTES = 512

# Beyond which median random reads, in seconds, show a disk with heads: SSD take 0.05 to 0.2 ms,
# also behind SATA; a revolution at 7,200 per minute takes 8.3 ms.
_SEEK_SECONDS = 0.002


@dataclass(frozen=True)
class Mount:
    """A mounted file system, as a line of mountinfo has it."""

    point: Path
    device: str
    """Its device number, e.g. "254:0"; anonymous for file systems without a block device and btrfs."""
    root: str
    file_system: str
    source: str
    """E.g. "/dev/loop0"."""
    options: str
    """Options of the mount and of the file system, without repetition."""


@dataclass(frozen=True)
class MediumFacts:
    """Storage of a folder. None where this machine has no source of the fact."""

    mount_point: str | None = None
    file_system: str | None = None
    source: str | None = None
    options: str | None = None
    block_device: str | None = None
    """Name of the kernel, e.g. "vda" or "loop0"; None without one."""
    rotational: bool | None = None
    """As the kernel has it. Virtual disks are rotational by default, and loop devices inherit it."""
    scheduler: str | None = None
    read_ahead_bytes: int | None = None
    backing_file: str | None = None
    """The file behind a loop device."""
    emulated: str | None = None
    """Label of an emulated medium, e.g. "emulated hdd"; None for other media."""

    @classmethod
    def of(cls, folder: Path) -> MediumFacts:
        """Return the facts of the medium of a folder that exists."""
        folder = folder.resolve()
        mount = mount_of(folder)
        if mount is None:
            return cls()
        device = block_device_of(mount)
        queue = _queue(device) if device else None
        backing = _text(Path(f"/sys/class/block/{device}/loop/backing_file")) if device else None
        rotational = _text(queue / "rotational") if queue else None
        ahead = _text(Path(f"/sys/class/bdi/{mount.device}/read_ahead_kb"))
        return cls(
            mount_point=str(mount.point),
            file_system=mount.file_system,
            source=mount.source,
            options=mount.options,
            block_device=device,
            rotational=None if rotational is None else rotational == "1",
            scheduler=_chosen(_text(queue / "scheduler")) if queue else None,
            read_ahead_bytes=int(ahead) * 1024 if ahead else None,
            backing_file=backing,
            emulated=_text(_emulation_of(mount.point) / "label"),
        )

    @property
    def is_in_memory(self) -> bool:
        """Whether files are pages of memory alone, without a page cache apart from them."""
        return self.file_system in IN_MEMORY

    @property
    def has_own_device(self) -> bool:
        """Whether the counters of the block device count this file system's reads alone."""
        return self.block_device is not None and self.block_device.startswith("loop")

    def label(self, random_read_seconds: float | None = None) -> str:
        """Return a name of the medium, e.g. "nvme ext4", "tmpfs" or "emulated hdd".

        Parameters
        ----------
        random_read_seconds : float, optional
            Measured median of random reads, which decides between a disk with heads and an SSD: the
            kernel's flag is wrong in many virtual machines.
        """
        if self.emulated:
            return self.emulated
        kind = self._kind(random_read_seconds)
        name = self.file_system or ""
        return kind if not kind or kind == name else f"{kind} {name}".strip()

    def _kind(self, random_read_seconds: float | None) -> str:
        name, device = self.file_system or "unknown medium", self.block_device or ""
        if self.is_in_memory or name == "overlay":
            return name
        if name in _NETWORK:
            return "network"
        if not device:
            return name
        if device.startswith("loop"):
            return "loop"
        if device.startswith("nvme"):
            return "nvme"
        if random_read_seconds is not None and random_read_seconds > _SEEK_SECONDS:
            return "hdd"
        if device.startswith(_VIRTUAL):
            return "virtual disk"
        return "ssd" if random_read_seconds is not None or not self.rotational else "hdd"


def _emulation_of(mount_point: Path) -> Path:
    """Return the folder that tools/emulated_medium keeps beside the mount point of a medium."""
    return mount_point.parent / f".{mount_point.name}.format-bench-medium"


def seeks_at(folder: Path) -> int | None:
    """Return the seeks for reads that the emulated disk below a folder has made; None on other media."""
    mount = mount_of(folder.resolve())
    if mount is None:
        return None
    with contextlib.suppress(FileNotFoundError):
        (seeks,) = struct.unpack("<Q", (_emulation_of(mount.point) / "seeks").read_bytes())
        return int(seeks)
    return None


def mounts() -> list[Mount]:
    """Return the mounted file systems, oldest first."""
    return [_mount(line) for line in (_text(MOUNTS) or "").splitlines()]


def mount_of(folder: Path) -> Mount | None:
    """Return the mounted file system of a folder; None if the kernel lists none."""
    found = [each for each in mounts() if folder.is_relative_to(each.point)]
    # The deepest mount point; of several mounts on it the last one, which covers the others.
    return max(reversed(found), key=lambda each: len(each.point.parts), default=None)


def _mount(line: str) -> Mount:
    """Return a line of mountinfo: fixed fields, optional ones up to a hyphen, and three more."""
    fixed, _, own = line.partition(" - ")
    _, _, device, root, point, options, *_ = fixed.split(" ")
    file_system, source, more = own.split(" ", 2)
    of_both = dict.fromkeys([*options.split(","), *more.split(",")])
    root, point, source = _unescaped(root), _unescaped(point), _unescaped(source)
    return Mount(Path(point), device, root, file_system, source, ",".join(of_both))


def _unescaped(text: str) -> str:
    r"""Return a text of mountinfo, where a space is \040."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), text)


def block_device_of(mount: Mount) -> str | None:
    """Return the name of the block device of a mount, e.g. "vda1"; None without one."""
    folder = Path(f"/sys/dev/block/{mount.device}")
    if folder.exists():
        return folder.resolve().name
    # The device number of btrfs is anonymous.
    name = os.path.realpath(mount.source).removeprefix("/dev/")
    is_device = mount.source.startswith("/dev/") and Path(f"/sys/class/block/{name}").exists()
    return name if is_device else None


def _queue(device: str) -> Path | None:
    folder = Path(f"/sys/class/block/{device}").resolve()
    # A partition has no queue of its own; the folder above it is its disk's.
    return next((each for each in (folder / "queue", folder.parent / "queue") if each.is_dir()), None)


def _chosen(text: str | None) -> str | None:
    """Return the choice in brackets, e.g. "none" of "[none] mq-deadline"."""
    chosen = re.search(r"\[([\w-]+)\]", text or "")
    return chosen[1] if chosen else text


def _text(path: Path) -> str | None:
    with contextlib.suppress(OSError):
        return path.read_text(encoding="utf-8").strip()
    return None


@dataclass(frozen=True)
class DeviceReads:
    """Reads that a block device has completed, of all processes together."""

    requests: int
    read_bytes: int

    def __sub__(self, earlier: DeviceReads) -> DeviceReads:
        return DeviceReads(self.requests - earlier.requests, self.read_bytes - earlier.read_bytes)


def reads_of(device: str) -> DeviceReads:
    """Return the reads of a block device since it exists.

    Raises
    ------
    OSError
        If the device is unknown.
    """
    fields = Path(f"/sys/class/block/{device}/stat").read_text(encoding="ascii").split()
    return DeviceReads(int(fields[0]), int(fields[2]) * _SECTOR_BYTES)


class DeviceWatch:
    """Counts the reads of a folder's block device during each of its blocks.

    Parameters
    ----------
    folder : Path
        A folder on the device. Without a block device, e.g. on tmpfs, nothing is counted.
    """

    def __init__(self, folder: Path) -> None:
        facts = MediumFacts.of(folder)
        self.device, self.is_own = facts.block_device, facts.has_own_device
        self.counted: list[DeviceReads] = []
        """Reads of each block so far."""

    def __enter__(self) -> Self:
        if self.device:
            self._before = reads_of(self.device)
        return self

    def __exit__(self, *_: object) -> None:
        if self.device:
            self.counted.append(reads_of(self.device) - self._before)

    def __str__(self) -> str:
        """Return the median of all blocks in a sentence; empty if nothing was counted."""
        if not self.counted:
            return ""
        requests = statistics.median(each.requests for each in self.counted)
        megabytes = statistics.median(each.read_bytes for each in self.counted) / 1e6
        shared = "" if self.is_own else ", with reads of other programs on this disk"
        return f"the device {self.device} answered {requests:,.0f} reads of {megabytes:,.3g} MB{shared}"
