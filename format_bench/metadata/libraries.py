"""Versions of distributions and of the C libraries behind them, and the environment that they make."""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from adapter_core.environments import OwnEnvironment, version_on
from format_bench.instruments import threads as thread_policy
from format_bench.results import environments
from format_bench.results.suites import FAMILIES
from format_bench.system import library_set as sets

# All libraries are imported in it; one that hangs shall not end a run.
CHILD_SECONDS = 120
# The path of this process: the child must import the same packages in any working directory.
CHILD = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from format_bench.metadata import libraries; print(json.dumps(libraries.facts(sys.argv[2])))"
)

# Name of a C library: the module that has its version, and the attribute or call that returns it.
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


def facts_from_child(
    policy: thread_policy.Threads, limit_seconds: float = CHILD_SECONDS
) -> dict[str, Any]:
    """Return `facts` of a new process under the policy; an empty dict if that fails, or takes longer."""
    command = [sys.executable, "-c", CHILD, json.dumps(sys.path), policy]
    environment = os.environ | thread_policy.environment(policy)
    with contextlib.suppress(OSError, ValueError, LookupError, subprocess.SubprocessError):
        output = subprocess.check_output(  # noqa: S603 (the command is this file's own)
            command, env=environment, stderr=subprocess.DEVNULL, text=True, timeout=limit_seconds
        )
        # A library may print as it is imported.
        return json.loads(output.splitlines()[-1])
    return {}


def facts(policy: thread_policy.Threads) -> dict[str, Any]:
    """Import the libraries, and return the versions of C libraries and all thread counts."""
    # A policy reaches only libraries that are imported.
    for module in ("numpy", "numexpr", "pandas", "pyarrow", "tables", "blosc2", "polars"):
        _or_none(partial(importlib.import_module, module))
    thread_policy.apply(policy)
    versions = {name: _or_none(partial(_version_of, *entry)) for name, entry in C_LIBRARIES.items()}
    return {"in_force": thread_policy.in_force(), "c_libraries": versions}


def _version_of(module: str, version: Callable[[Any], Any]) -> Any:
    return version(importlib.import_module(module))


def _or_none(call: Callable[[], Any]) -> Any:
    """Return the result of a call into a library, or None if it fails."""
    try:
        return call()
    except KeyboardInterrupt:
        raise
    except BaseException:
        # A broken library may raise SystemExit, and one in Rust a PanicException.
        return None


def _blas(pools: list[dict[str, Any]]) -> str | None:
    found = [pool for pool in pools if pool["user_api"] == "blas"]
    text = ", ".join(f"{p['internal_api']} {p['version']} {p.get('architecture', '')}" for p in found)
    return text.strip() or None


def distributions() -> dict[str, str | None]:
    """Return the version of each distribution that an adapter requires, and of NumPy."""
    from adapter_core.listing import declarations

    folders = [Path(importlib.import_module(each.adapters).__path__[0]) for each in FAMILIES.values()]
    requirements = {
        text for folder in folders for each in declarations(folder) for text in each.requires
    }
    found = versions({*requirements, "numpy"})
    return {name: found[name] for name in sorted(found)}


def versions(requirements: Iterable[str], own: str = "") -> dict[str, str | None]:
    """Return the version of each required distribution, by name; None if it is missing.

    Parameters
    ----------
    requirements : iterable of str
        Requirement strings.
    own : str
        Name of the environment of an adapter; by default this one.
    """
    from packaging.requirements import Requirement

    of_name = OwnEnvironment(own).version_of if own else _version
    return {name: of_name(name) for name in (Requirement(text).name for text in requirements)}


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


@functools.cache
def environment(label: str, suite: str, library_set: str = "") -> str:
    """Return the environment of values of a format that are measured now.

    Parameters
    ----------
    label : str
        The format.
    suite : str
        The suite, as a record names it.
    library_set : str
        The set in whose interpreter they are measured; by default this one.
    """
    own = environments.own_environment(label, suite)
    measuring = own or (sets.find(library_set) if library_set else None)
    version = measuring.python_version if measuring else sys.version
    python = environments.python_of(platform.python_implementation(), version)
    of_name = measuring.version_of if measuring else version_of
    return environments.described(label, suite, python, of_name)


def version_of(name: str, library_set: str = "") -> str | None:
    """Return the version of a distribution in a library set, by default here; None if it is missing."""
    if library_set:
        return sets.find(library_set).version_of(name)
    return version_on(name, tuple(sys.path))
