"""What machine this is: processor, memory, system, disk, load. What it does not tell is None."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

MOUNT = ("mount_point", "file_system", "device", "options")
CPUS = Path("/sys/devices/system/cpu")


def system() -> dict[str, Any]:
    """Return the names of the operating system, its kernel and its C library."""
    return {
        "os": _or_none(lambda: platform.freedesktop_os_release()["PRETTY_NAME"]),
        "kernel": platform.release(),
        "libc": " ".join(platform.libc_ver()).strip() or None,
    }


def cpu() -> dict[str, Any]:
    """Return the processor's model, how many logical and usable CPUs it has, and how it is clocked."""
    facts = _text(Path("/proc/cpuinfo")) or ""
    model = re.search(r"^model name\s*:\s*(.+)$", facts, re.MULTILINE)
    governors = {_text(path) for path in CPUS.glob("cpu[0-9]*/cpufreq/scaling_governor")} - {None}
    return {
        "model": model[1] if model else None,
        "logical": os.cpu_count(),
        "usable": len(os.sched_getaffinity(0)),
        "smt": _text(CPUS / "smt/control"),
        "governor": ", ".join(sorted(map(str, governors))) or None,
    }


def memory() -> dict[str, Any]:
    """Return total and available bytes, and whether there are transparent huge pages."""
    facts = dict(re.findall(r"^(\w+):\s+(\d+) kB$", _text(Path("/proc/meminfo")) or "", re.MULTILINE))
    huge = _text(Path("/sys/kernel/mm/transparent_hugepage/enabled")) or ""
    chosen = re.search(r"\[(\w+)\]", huge)
    return {
        "total_bytes": _or_none(lambda: int(facts["MemTotal"]) * 1024),
        "available_bytes": _or_none(lambda: int(facts["MemAvailable"]) * 1024),
        "transparent_huge_pages": chosen[1] if chosen else None,
    }


def load_average() -> list[float] | None:
    """Return the load of the last 1, 5 and 15 minutes."""
    return _or_none(lambda: list(os.getloadavg()))


def scratch(folder: Path) -> dict[str, Any]:
    """Return where a folder is: mount point, file system, device, whether that spins, and free bytes."""
    return {
        "path": str(folder.resolve()),
        "free_bytes": _or_none(lambda: shutil.disk_usage(folder).free),
        "rotational": _or_none(lambda: _rotational(folder.stat().st_dev)),
        **(_mount(folder.resolve()) or dict.fromkeys(MOUNT)),
    }


def _mount(folder: Path) -> dict[str, str] | None:
    """Return what is mounted where the folder is; of mounts on the same point the last one shows."""
    found = None
    for line in (_text(Path("/proc/self/mountinfo")) or "").splitlines():
        mounted, _, source = line.partition(" - ")
        point, options = (_unescaped(field) for field in mounted.split()[4:6])
        kind, device, own_options = source.split()
        inside = folder.is_relative_to(point)
        if inside and (found is None or len(point) >= len(found["mount_point"])):
            both = dict.fromkeys([*options.split(","), *own_options.split(",")])
            found = dict(zip(MOUNT, (point, kind, _unescaped(device), ",".join(both)), strict=True))
    return found


def _unescaped(field: str) -> str:
    """Return a field of mountinfo, where the kernel writes spaces and the like as octal numbers."""
    return re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), field)


def _rotational(device: int) -> bool | None:
    """Return whether a block device is a spinning disk; of a partition, its disk is asked."""
    folder = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}").resolve()
    for flag in (folder / "queue/rotational", folder.parent / "queue/rotational"):
        if text := _text(flag):
            return text == "1"
    return None


def _text(path: Path) -> str | None:
    return _or_none(lambda: path.read_text(encoding="utf-8").strip())


def _or_none(call: Callable[[], Any]) -> Any:
    """Return what a look at the system returns, or None where it is not as on most."""
    with contextlib.suppress(OSError, LookupError, ValueError):
        return call()
    return None
