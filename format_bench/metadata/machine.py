"""Facts of the machine: processor, memory, system, disk, load; and the fingerprint that they make.

An unknown fact is None. Two machines of one fingerprint measure alike, as far as can be known.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import os
import platform
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from format_bench.instruments import threads
from format_bench.instruments.medium import MediumFacts
from format_bench.results.suites import FAMILIES

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
        "usable": len(threads.usable_cpus()),
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


# Characters of a fingerprint. 48 bits: of 1,000 machines two are alike by chance in one case of half a
# billion.
LENGTH = 12

GIB = 2**30


def fingerprint(metadata: Mapping[str, Any]) -> str:
    """Return a short hash of the facts that decide the speed of a machine.

    That is its processor with the CPUs that may be used, its memory in whole GiB, kernel and C library,
    the file systems of the measured files, Python, and the versions of all libraries. Facts that
    change from hour to hour do not count, e.g. the load.

    Parameters
    ----------
    metadata : mapping
        As `format_bench.metadata.run_metadata.collect` returns them.
    """
    total_bytes = metadata["memory"]["total_bytes"]
    facts = {
        **{name: metadata[name] for name in ("python", "libraries", "c_libraries", "system", "cpu")},
        # Machines of one model differ by some kilobytes.
        "memory": None if total_bytes is None else round(total_bytes / GIB),
        "scratch": _storage(metadata["scratch"]),
    }
    if media := metadata.get("media"):
        facts["media"] = {name: _storage(medium) for name, medium in media.items()}
    text = json.dumps(facts, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:LENGTH]


def _storage(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: facts[name] for name in ("file_system", "rotational")}


@cache
def sources_digest() -> str:
    """Return a hash of the project's own files: two with the same one measure in the same way."""
    packages = {family.adapters.partition(".")[0] for family in FAMILIES.values()}
    digest = hashlib.sha256()
    for package in sorted({"adapter_core", "data_generator", "format_bench", *packages}):
        folder = Path(importlib.import_module(package).__path__[0])
        for path in sorted(folder.rglob("*.py")) + sorted(folder.rglob("*.toml")):
            digest.update(f"{package}/{path.relative_to(folder)}".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:LENGTH]


def described(metadata: Mapping[str, Any]) -> str:
    """Return processor, CPUs, memory and kernel of a machine in words."""
    cpu, total_bytes = metadata["cpu"], metadata["memory"]["total_bytes"]
    memory = f"{total_bytes / GIB:.0f} GiB" if total_bytes else "unknown memory"
    parts = (
        cpu["model"] or "unknown CPU",
        f"{cpu['usable']} CPUs",
        memory,
        metadata["system"]["kernel"],
    )
    return ", ".join(map(str, parts))
