"""Under what circumstances numbers were obtained. What cannot be read is null, never a guess."""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from format_bench import threads as thread_policy

CHILD_SECONDS = 120
CHILD = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from format_bench import circumstances; print(json.dumps(circumstances.ask(sys.argv[2])))"
)
MOUNT = ("mount_point", "file_system", "device", "options")
CPUS = Path("/sys/devices/system/cpu")

# Name of a C library: the module that knows its version, and how it tells.
C_LIBRARIES: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "Arrow C++": ("pyarrow", lambda module: module.cpp_build_info.version),
    "Arrow C++ build": ("pyarrow", lambda module: module.cpp_build_info.build_type),
    "Arrow C++ SIMD": ("pyarrow", lambda module: module.runtime_info().simd_level),
    "HDF5": ("tables", lambda module: module.hdf5_version),
    "Blosc of PyTables": ("tables", lambda module: module.which_lib_version("blosc")[1]),
    "Blosc2 of PyTables": ("tables", lambda module: module.which_lib_version("blosc2")[1]),
    "zlib of PyTables": ("tables", lambda module: module.which_lib_version("zlib")[1]),
    "zstd of PyTables": ("tables", lambda module: module.blosc_get_complib_info()["zstd"][1]),
    "zlib of Python": ("zlib", lambda module: module.ZLIB_RUNTIME_VERSION),
    "expat of Python": ("pyexpat", lambda module: module.EXPAT_VERSION),
    "libxml2": ("lxml.etree", lambda module: ".".join(map(str, module.LIBXML_VERSION))),
    "BLAS": ("threadpoolctl", lambda module: _blas(module.threadpool_info())),
}


def collect(scratch: Path, *, seed: int, scale: str, threads: thread_policy.Threads) -> dict[str, Any]:
    """Return the circumstances of a run that begins now, as JSON can hold them.

    The libraries are asked in a fresh process under the thread policy, which is what measuring
    processes are: so this process loads none of them, and one that crashes costs its answers only.

    Parameters
    ----------
    scratch : Path
        The folder that the measured files are in.
    seed, scale
        What the data are made from.
    threads : {"1", "all"}
        The thread policy of the run.
    """
    asked = _asked_in_a_child(threads)
    return {
        "started": _now(),
        "ended": None,
        "seed": seed,
        "scale": scale,
        "threads": {"policy": threads, "in_force": asked.get("in_force")},
        "commit": _commit(),
        "python": {
            "implementation": platform.python_implementation(),
            "version": sys.version,
            "compiler": platform.python_compiler(),
        },
        "libraries": _distributions(),
        "c_libraries": {name: asked.get("c_libraries", {}).get(name) for name in C_LIBRARIES},
        "system": {
            "os": _or_none(lambda: platform.freedesktop_os_release()["PRETTY_NAME"]),
            "kernel": platform.release(),
            "libc": " ".join(platform.libc_ver()).strip() or None,
        },
        "cpu": _cpu(),
        "memory": _memory(),
        "scratch": _scratch(scratch),
        "load_average": {"start": _or_none(lambda: list(os.getloadavg())), "end": None},
    }


def finish(circumstances: dict[str, Any]) -> dict[str, Any]:
    """Return the circumstances of a run that ends now."""
    load = {**circumstances["load_average"], "end": _or_none(lambda: list(os.getloadavg()))}
    return {**circumstances, "ended": _now(), "load_average": load}


def write(circumstances: dict[str, Any], path: Path) -> None:
    """Write circumstances as JSON; the file is whole at any time, or not there."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    unfinished.write_text(json.dumps(circumstances, indent=2) + "\n", encoding="utf-8")
    unfinished.replace(path)


def ask(policy: thread_policy.Threads) -> dict[str, Any]:
    """Import the libraries, and return what they say of themselves and of their threads."""
    for module in ("numpy", "numexpr", "pandas", "pyarrow", "tables", "blosc2", "polars"):
        _tolerant(partial(importlib.import_module, module))
    thread_policy.apply(policy)
    versions = {name: _tolerant(partial(_tell, *how)) for name, how in C_LIBRARIES.items()}
    return {"in_force": thread_policy.in_force(), "c_libraries": versions}


def _tell(module: str, how: Callable[[Any], Any]) -> Any:
    return how(importlib.import_module(module))


def _tolerant(call: Callable[[], Any]) -> Any:
    """Return what a call into a library returns, or None: a broken one may even exit."""
    try:
        return call()
    except KeyboardInterrupt:
        raise
    except BaseException:
        return None


def _or_none(call: Callable[[], Any]) -> Any:
    """Return what a look at the system returns, or None where it is not as on most."""
    with contextlib.suppress(OSError, LookupError, ValueError):
        return call()
    return None


def _asked_in_a_child(policy: thread_policy.Threads) -> dict[str, Any]:
    command = [sys.executable, "-c", CHILD, json.dumps(sys.path), policy]
    environment = os.environ | thread_policy.environment(policy)
    with contextlib.suppress(OSError, ValueError, LookupError, subprocess.SubprocessError):
        output = subprocess.check_output(  # noqa: S603 (the command is this file's own)
            command, env=environment, stderr=subprocess.DEVNULL, text=True, timeout=CHILD_SECONDS
        )
        # A library may print as it is imported.
        return json.loads(output.splitlines()[-1])
    return {}


def _blas(pools: list[dict[str, Any]]) -> str | None:
    found = [pool for pool in pools if pool["user_api"] == "blas"]
    text = ", ".join(f"{p['internal_api']} {p['version']} {p.get('architecture', '')}" for p in found)
    return text.strip() or None


def _distributions() -> dict[str, str | None]:
    """Return the version of each distribution that an adapter requires, and of NumPy."""
    from packaging.requirements import Requirement

    import data_formats
    import image_storages
    from adapter_core.listing import declarations

    folders = (data_formats.registry.folder, image_storages.registry.folder)
    requirements = {
        text for folder in folders for each in declarations(folder) for text in each.requires
    }
    names = {Requirement(text).name for text in requirements} | {"numpy"}
    return {name: _version(name) for name in sorted(names)}


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _commit() -> dict[str, Any]:
    """Return the commit under test; an installed copy inside some checkout belongs to no commit."""
    if said := os.environ.get("ASV_COMMIT"):
        return {"hash": said, "clean": None}
    here = Path(__file__).resolve()
    if _git(here.parent, "ls-files", "--error-unmatch", "__init__.py") is None:
        return {"hash": None, "clean": None}
    changes = _git(here.parents[1], "status", "--porcelain")
    return {
        "hash": _git(here.parent, "rev-parse", "HEAD"),
        "clean": None if changes is None else not changes,
    }


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        command = ["git", "-C", str(folder), *arguments]
        return subprocess.check_output(command, stderr=subprocess.DEVNULL, text=True).strip()  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None


def _cpu() -> dict[str, Any]:
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


def _memory() -> dict[str, Any]:
    facts = dict(re.findall(r"^(\w+):\s+(\d+) kB$", _text(Path("/proc/meminfo")) or "", re.MULTILINE))
    huge = _text(Path("/sys/kernel/mm/transparent_hugepage/enabled")) or ""
    chosen = re.search(r"\[(\w+)\]", huge)
    return {
        "total_bytes": _or_none(lambda: int(facts["MemTotal"]) * 1024),
        "available_bytes": _or_none(lambda: int(facts["MemAvailable"]) * 1024),
        "transparent_huge_pages": chosen[1] if chosen else None,
    }


def _scratch(folder: Path) -> dict[str, Any]:
    return {
        "path": str(folder.resolve()),
        "free_bytes": _or_none(lambda: shutil.disk_usage(folder).free),
        "rotational": _or_none(lambda: _rotational(folder.stat().st_dev)),
        **(
            _mount(folder.resolve())
            or dict.fromkeys(("mount_point", "file_system", "device", "options"))
        ),
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


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
