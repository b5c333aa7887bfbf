"""Facts of the machine: processor, memory, system, disk, load. An unknown fact is None."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from format_bench.instruments.medium import MediumFacts

CPUS = Path("/sys/devices/system/cpu")


def system() -> dict[str, Any]:
    """Return the names of the operating system, its kernel and its C library."""
    return {
        "os": _or_none(lambda: platform.freedesktop_os_release()["PRETTY_NAME"]),
        "kernel": platform.release(),
        "libc": " ".join(platform.libc_ver()).strip() or None,
    }


def host() -> str:
    """Return an id of the running kernel, which all containers of a machine share; else the name."""
    return _text(Path("/proc/sys/kernel/random/boot_id")) or platform.node()


def cpu() -> dict[str, Any]:
    """Return the processor's model, the numbers of its logical and usable CPUs, and its clocking."""
    # platform.processor() is empty or the architecture on Linux.
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
    """Return total and available bytes, and the state of transparent huge pages."""
    import psutil

    memory = _or_none(psutil.virtual_memory)
    huge = _text(Path("/sys/kernel/mm/transparent_hugepage/enabled")) or ""
    chosen = re.search(r"\[(\w+)\]", huge)
    return {
        "total_bytes": memory.total if memory else None,
        "available_bytes": memory.available if memory else None,
        "transparent_huge_pages": chosen[1] if chosen else None,
    }


def load_average() -> list[float] | None:
    """Return the load of the last 1, 5 and 15 minutes."""
    return _or_none(lambda: list(os.getloadavg()))


def scratch(folder: Path) -> dict[str, Any]:
    """Return the storage of a folder: free bytes, and the facts of its medium."""
    facts = asdict(MediumFacts.of(folder))
    return {
        "path": str(folder.resolve()),
        "free_bytes": _or_none(lambda: shutil.disk_usage(folder).free),
        "device": facts.pop("source"),
        **facts,
    }


def _text(path: Path) -> str | None:
    return _or_none(lambda: path.read_text(encoding="utf-8").strip())


def _or_none(call: Callable[[], Any]) -> Any:
    """Return the result of a call, or None if this machine lacks the source of the fact."""
    with contextlib.suppress(OSError, LookupError, ValueError):
        return call()
    return None
