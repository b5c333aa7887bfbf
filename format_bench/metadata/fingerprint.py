"""Fingerprint of a machine: two with the same one measure alike, as far as can be known."""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from format_bench.results.suites import FAMILIES

LENGTH = 12
"""Characters of a fingerprint."""

GIB = 2**30


def fingerprint(metadata: Mapping[str, Any]) -> str:
    """Return a short hash of the facts that decide the speed of a machine.

    That is its processor with the CPUs that may be used, its memory in whole GiB, kernel and C library,
    the file systems of the measured files, Python, and the versions of all libraries. What changes from
    hour to hour does not count, e.g. the load.

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
