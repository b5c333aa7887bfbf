"""Thread policies: libraries use one thread, or all CPUs of the process.

Neither environment variables nor calls are enough by themselves. A variable is read once, when a library
loads; pandas reads none for the threads of `read_csv`; Polars and Lance have no call; and Lance keeps
two threads busy (1.12 seconds of CPU per second of a save) even if it is set to one. So a measuring
process is started with `environment` and calls `apply`, which under "1" also pins it to one CPU: this
covers libraries that are imported later, and unknown ones.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from adapter_core.errors import UnsupportedError

Threads = Literal["1", "all"]

_CAN_PIN = hasattr(os, "sched_setaffinity")


def usable_cpus() -> frozenset[int]:
    """Return the CPUs that the process may use; all where the system has no such choice."""
    return frozenset(os.sched_getaffinity(0) if _CAN_PIN else range(os.cpu_count() or 1))


# The CPUs that the process was given, before `apply` pinned it.
ALLOWED_CPUS = usable_cpus()

# Threads that wait for files, under either policy: the default of Arrow and of Lance.
#
# With one, Lance hangs when it overwrites a data set, and Arrow when it scans a folder of IPC files.
# Pinned to one CPU, Lance has seldom hung there with eight, too: under "1" a time limit is needed.
IO_THREADS = 8

CPU_VARIABLES = (
    "OMP_NUM_THREADS",  # OpenMP, and Arrow's CPU pool: pyarrow.cpu_count
    "OPENBLAS_NUM_THREADS",  # the BLAS of NumPy's wheels
    "MKL_NUM_THREADS",  # the BLAS of NumPy from conda: oneMKL developer guide
    "NUMEXPR_NUM_THREADS",
    "NUMEXPR_MAX_THREADS",  # the number that PyTables passes to numexpr, too
    "BLOSC_NTHREADS",  # overrules every call, in Blosc and Blosc2
    "RAYON_NUM_THREADS",  # Rust libraries: rayon's ThreadPoolBuilder
    "TOKIO_WORKER_THREADS",  # Rust libraries: tokio's runtime Builder; Lance's pool follows it
    "POLARS_MAX_THREADS",  # polars.thread_pool_size
    "LANCE_CPU_THREADS",  # at least two, whatever its value
)
IO_VARIABLES = ("ARROW_IO_THREADS", "LANCE_IO_THREADS")


def cpus(policy: Threads) -> int:
    """Return the number of CPUs of a policy."""
    return 1 if policy == "1" else len(ALLOWED_CPUS)


def environment(policy: Threads) -> dict[str, str]:
    """Return the environment variables that a fresh process needs under a policy."""
    return {
        **dict.fromkeys(CPU_VARIABLES, str(cpus(policy))),
        **dict.fromkeys(IO_VARIABLES, str(IO_THREADS)),
    }


def apply(policy: Threads, *, pinned: bool = True) -> None:
    """Set the threads of imported libraries; no library is imported for this.

    Under "1" all threads of the process are pinned to the CPU that it runs on. Polars and Lance
    follow only `environment` and the pinning.

    Parameters
    ----------
    policy : {"1", "all"}
        The policy.
    pinned : bool
        False leaves the CPUs to the kernel, which spreads several processes over them.

    Raises
    ------
    UnsupportedError
        If one thread cannot be enforced: systems other than Linux pin no process.
    """
    count = cpus(policy)
    setters: dict[str, Callable[[Any], object]] = {
        "pandas": lambda pandas: _set_pandas(pandas, count),
        "pyarrow": lambda pyarrow: _set_arrow(pyarrow, count),
        "numexpr": lambda numexpr: numexpr.set_num_threads(min(count, numexpr.MAX_THREADS)),
        "tables": lambda tables: _set_tables(tables, count),
        "blosc2": lambda blosc2: blosc2.set_nthreads(count),
    }
    for name, setter in setters.items():
        if module := sys.modules.get(name):
            setter(module)
    _limit_pools(count)
    if pinned and policy == "1" and not _CAN_PIN:
        raise UnsupportedError("one thread is enforced by pinning to a CPU, which Linux alone can do")
    if pinned and _CAN_PIN:
        _pin({_current_cpu()} if policy == "1" else ALLOWED_CPUS)


def in_force() -> dict[str, int]:
    """Return the number of threads of each imported library, and the number of usable CPUs as "cpus".

    Libraries that are not imported, or that cannot be asked (Lance), are left out.
    """
    getters: dict[str, Callable[[Any], int]] = {
        "pandas": lambda pandas: pandas.io.parsers.readers._default_n_workers(),  # noqa: SLF001
        "pyarrow": lambda pyarrow: pyarrow.cpu_count(),
        "pyarrow I/O": lambda pyarrow: pyarrow.io_thread_count(),
        "numexpr": lambda numexpr: numexpr.get_num_threads(),
        "tables": lambda tables: _blosc_threads(tables.parameters.MAX_BLOSC_THREADS),
        "blosc2": lambda blosc2: _blosc_threads(blosc2.nthreads),
        "polars": lambda polars: polars.thread_pool_size(),
    }
    found = {"cpus": len(usable_cpus())}
    for name, getter in getters.items():
        if module := sys.modules.get(name.split()[0]):
            with contextlib.suppress(Exception):
                found[name] = int(getter(module))
    return found | _pool_threads()


def _set_pandas(pandas: Any, count: int) -> None:
    with contextlib.suppress(pandas.errors.OptionError):  # pandas before 3.1 reads in one thread
        pandas.set_option("mode.max_threads", count)


def _set_arrow(pyarrow: Any, count: int) -> None:
    pyarrow.set_cpu_count(count)
    pyarrow.set_io_thread_count(IO_THREADS)


def _set_tables(tables: Any, count: int) -> None:
    """Set the threads of Blosc, in open files and in files opened later."""
    # PyTables reads the parameter at each open; the calls change Blosc itself.
    tables.parameters.MAX_BLOSC_THREADS = count
    tables.set_blosc_max_threads(count)
    tables.set_blosc2_max_threads(count)


def _blosc_threads(set_by_call: int) -> int:
    return int(os.environ.get("BLOSC_NTHREADS") or set_by_call)


def _limit_pools(count: int) -> None:
    with contextlib.suppress(ImportError):
        importlib.import_module("threadpoolctl").threadpool_limits(count)


def _pool_threads() -> dict[str, int]:
    """Return the threads of the loaded BLAS and OpenMP libraries, by name of the library."""
    with contextlib.suppress(ImportError):
        pools = importlib.import_module("threadpoolctl").threadpool_info()
        return {pool["internal_api"]: pool["num_threads"] for pool in pools}
    return {}


def _current_cpu() -> int:
    """Return the CPU that the process last ran on, the 39th field of proc(5)'s stat."""
    fields_from_third = Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return int(fields_from_third[36])


def _pin(cpu_set: frozenset[int] | set[int]) -> None:
    """Move every thread of the process to some CPUs."""
    # sched_setaffinity for the process moves only the main thread, and threads that it starts later.
    for task in os.listdir("/proc/self/task"):  # noqa: PTH208 (names are what is needed)
        with contextlib.suppress(ProcessLookupError):  # a thread may end meanwhile
            os.sched_setaffinity(int(task), cpu_set)
