"""Page of the studies of scale, in Markdown."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from statistics import median

from format_bench.network.object_server import REAL, VERSION
from format_bench.parallel.engine import ENGINES, ParallelEngine
from format_bench.parallel.trials import LOCAL, MEDIA, OBJECT_STORE, STEPS, VERIFIED
from format_bench.results.display.markdown import table_lines
from format_bench.results.display.text import joined, plural
from format_bench.studies.scale.results import ALONE, ARRAYS, LIMITED, TABLES, ScaleRun
from format_bench.studies.scale.simulation import simulated_seconds

SIMULATED_WORKERS = (1, 2, 4, 8, 16, 32, 64)

SIMULATED_TASKS = 256
"""Partitions of the simulated job: four for each of 64 workers."""

MIB = 2**20

_HEAD = """# Scale

Tables and arrays that several workers write and read, and such larger than the memory. Made by
`format-bench study scaling` and `format-bench study out-of-core`; `format-bench study scaling --page
FOLDER` prints this page from their results.

`make bench SUITES=scale` and `format-bench run --suite scale` measure a part of this beside the other
suites: formats by workers, partitions and medium, on local workers of Dask. The track "2x16 local" is 2
workers and 16 partitions on a local file system; `--tracks "2x4 object store"` chooses one. Those on an
object store need the server that `format-bench build object-server` builds.

Workers are processes of one machine, each with one thread for the libraries. A worker makes the rows of
a partition, saves them and returns a digest; later it reads a partition and returns the digest of what
came back. Digests are sums of 64-bit hashes of values and rows, which do not depend on the order. The
manifest of a format without a log of its own has further ones, of each column of each partition, which
do: they find reversed rows, exchanged partitions and those of another save, and are made and compared
outside of the clock of a step. *Wall* is the time of the whole job, with making and verifying the
rows. Times of a step are those of the worker that spent most on it, and of the client's share. *Peak*
is the resident memory of the largest worker.

"""

_ALONE = """## Beside the adapter alone

Wall time in seconds: the adapter in one process, which writes one file from a stream of the same
partitions and reads it in batches, and the same table on workers. All make and verify the rows.

"""

_SCALING = """## Strong and weak scaling, measured

CPU and wall seconds of a save. *Speed-up* is the wall time of one worker by that of two, on the same
table; *weak* that of one worker on half of the table by that of two on all of it, as a share of 1.

"""

_SIMULATED = """## Up to {workers} workers, simulated

Wall seconds of a save of {tasks} partitions of the size measured, *simulated*: each worker takes the
next partition when it is free. Task times, and the longer first task of a worker, are those measured on
one worker; the rest of its wall time counts as the client's, in equal parts for each task. Shared
disks, networks and memory are not in the model.
*Measured / simulated* compares both for two workers and the measured number of partitions.

"""

_AT_STORE = """## On an object store

The same tables on a local file system and on an object store: an S3 server on the same machine
({server}), which also takes CPU time from the workers. Each worker sends its partitions by the
format's own client. Seconds.

"""

_ENGINES = """## Engines

The same jobs on each engine, two workers. *Lines* are those of the engine's own file, docstrings
included; no format has a line for an engine, and no engine one for a format.

Neither engine's limit of memory is the kernel's: Dask's nannies and, since Ray limits no single worker,
a thread of each of Ray's workers watch the resident memory and kill the worker beyond it. Another worker
takes its task, up to three times.

"""

_LIMITED = """## Larger than the memory

Each step in a process under a limit of memory, which also counts the page cache of its files, but not
the modules that it has inherited (some 110 MiB of the peaks). The table is written from batches and read
in batches. As a DataFrame it would need {times} times the limit.

"""


_ARRAYS = """## Arrays on workers

Workers make, write and read regions: runs of chunks along the first axis. Zarr stores and Icechunk get
whole chunks or shards, TileDB fragments; other stores are a folder with a file for each region. An array
has its name when all regions are written. *Alone* is the store in one process, which writes one array
chunk by chunk. Digests combine the bits of each value with its position, for each region.

"""

_ARRAYS_LIMITED = """## Arrays larger than the memory

As for tables: each step in a process under the limit. Arrays are written chunk by chunk, and read in
regions. In memory they would need {times} times the limit.

"""


def page(runs: Sequence[ScaleRun]) -> str:
    """Return the page of results in Markdown; the last result of a step counts."""
    found = list({_key(run): run for run in runs}.values())
    tables, arrays = _of(found, family=TABLES), _of(found, family=ARRAYS)
    local = _of(tables, medium=LOCAL)
    parts = [_HEAD, *_tables(local), _beside_alone(local), _scaling(local), _simulation(local)]
    parts += [_at_store(tables), _engines(local), _limited(local), _arrays(arrays)]
    return "".join(parts).rstrip("\n") + "\n"


def _key(run: ScaleRun) -> tuple[object, ...]:
    spread = run.engine, run.workers, run.partitions, run.medium
    return *spread, run.format, run.dataset, run.rows, run.step


def _of(runs: Iterable[ScaleRun], **wanted: object) -> list[ScaleRun]:
    """Return the runs whose fields have these values."""
    return [run for run in runs if all(getattr(run, name) == value for name, value in wanted.items())]


def _cells(runs: Sequence[ScaleRun], steps: Sequence[str], text: Callable[[ScaleRun], str]) -> list[str]:
    """Return a text for each step, or its status."""
    found = {run.step: run for run in runs}
    return ["-" if step not in found else found[step].status or text(found[step]) for step in steps]


def _tables(runs: Sequence[ScaleRun]) -> list[str]:
    """Return a table for each number of rows that most workers of Dask have had, the largest first."""
    of_dask = _of(runs, engine="dask")
    workers = max((run.workers for run in of_dask), default=0)
    chosen = _of(of_dask, workers=workers)
    sizes = sorted({run.rows for run in chosen}, reverse=True)
    return [_table(_of(chosen, rows=rows)) for rows in sizes]


def _table(chosen: Sequence[ScaleRun]) -> str:
    first = chosen[0]
    limit = f", each limited to {first.memory}" if first.memory else ""
    lines = [
        f"## {first.rows:,} rows of {first.dataset} on {plural(first.workers, 'worker')}",
        "",
        f"{first.columns} columns, {plural(first.partitions, 'partition')}, Dask{limit}. Seconds.",
        "",
    ]
    header = ["format", *STEPS, "save, wall", "read, wall", "save, CPU", "read, CPU", "peak, MiB", "MB"]
    rows = []
    for label in dict.fromkeys(run.format for run in chosen):
        of_format = _of(chosen, format=label)
        peak = max(run.peak_bytes for run in of_format) / MIB
        rows.append(
            [
                label,
                *_cells(of_format, STEPS, lambda run: f"{run.seconds:.2f}"),
                *_cells(of_format, STEPS[:2], lambda run: f"{run.wall_seconds:.1f}"),
                *_cells(of_format, STEPS[:2], lambda run: f"{run.cpu_seconds:.2f}"),
                f"{peak:.0f}",
                *_cells(of_format, STEPS[:1], lambda run: f"{run.size_bytes / 1e6:.0f}"),
            ]
        )
    lines += [*table_lines(header, rows), "", _verdict(chosen), "", ""]
    return "\n".join(lines)


def _verdict(runs: Sequence[ScaleRun]) -> str:
    checked = [run for run in runs if run.step in {"read", "two columns"} and not run.status]
    equal = [run for run in checked if run.sentence == VERIFIED]
    sentences = dict.fromkeys(f"{run.format}, {run.step}: {run.sentence}." for run in runs if run.status)
    return " ".join([f"Digests are equal in {len(equal)} of {len(checked)} reads.", *sentences])


def _beside_alone(runs: Sequence[ScaleRun]) -> str:
    chosen = _of(runs, engine=ALONE)
    if not chosen:
        return ""
    rows = max(run.rows for run in chosen)
    numbers = sorted({run.workers for run in _of(runs, engine="dask", rows=rows)})
    header = ["format"]
    for step in ("save", "read"):
        header += [f"{step}, alone", *(f"{step}, {plural(each, 'worker')}" for each in numbers)]
    table = []
    for label in dict.fromkeys(run.format for run in chosen):
        line = [label]
        for step in ("save", "read"):
            kinds = [(ALONE, 1), *(("dask", each) for each in numbers)]
            for engine, workers in kinds:
                of_kind = _of(runs, engine=engine, workers=workers, rows=rows, format=label)
                line += _cells(of_kind, [step], lambda run: f"{run.wall_seconds:.1f}")
        table.append(line)
    text = f"{rows:,} rows of `{chosen[0].dataset}`.\n\n"
    return _ALONE + text + "\n".join(table_lines(header, table)) + "\n\n" + _verdict(chosen) + "\n\n"


def _strong(runs: Sequence[ScaleRun]) -> list[tuple[ScaleRun, ScaleRun]]:
    """Return the saves of one and of two workers of the same table, a pair for each format."""
    saves = [run for run in _of(runs, engine="dask", step="save") if not run.status]
    found: dict[str, tuple[ScaleRun, ScaleRun]] = {}
    for two in _of(saves, workers=2):
        for one in _of(saves, workers=1, rows=two.rows, format=two.format):
            found.setdefault(two.format, (one, two))
    return list(found.values())


def _scaling(runs: Sequence[ScaleRun]) -> str:
    table = []
    for one, two in _strong(runs):
        halves = _of(runs, engine="dask", step="save", format=one.format, workers=1, rows=one.rows // 2)
        weak = f"{halves[0].wall_seconds / two.wall_seconds:.2f}" if halves else "-"
        table.append(
            [
                one.format,
                *(f"{run.cpu_seconds:.1f}" for run in (one, two)),
                *(f"{run.wall_seconds:.1f}" for run in (one, two)),
                f"{one.wall_seconds / two.wall_seconds:.2f}",
                weak,
            ]
        )
    if not table:
        return ""
    header = ["format", "CPU, 1 worker", "CPU, 2", "wall, 1 worker", "wall, 2", "speed-up", "weak"]
    return _SCALING + "\n".join(table_lines(header, table)) + "\n\n"


def _simulation(runs: Sequence[ScaleRun]) -> str:
    table = []
    for one, two in _strong(runs):
        measured = two.wall_seconds / _simulated(one, 2, two.partitions)
        line = [f"{_simulated(one, workers, SIMULATED_TASKS):.1f}" for workers in SIMULATED_WORKERS]
        table.append([one.format, *line, f"{measured:.2f}"])
    if not table:
        return ""
    header = ["format", *(f"{each}" for each in SIMULATED_WORKERS), "measured / simulated, 2"]
    text = _SIMULATED.format(workers=SIMULATED_WORKERS[-1], tasks=SIMULATED_TASKS)
    return text + "\n".join(table_lines(header, table)) + "\n\n"


def _simulated(one: ScaleRun, workers: int, tasks: int) -> float:
    """Return the wall time of a job on more workers, from its times on one."""
    first, *later = one.task_seconds
    times = later or [first]
    # The first task of a worker imports the libraries.
    startup = max(0.0, first - median(times))
    dispatch = max(0.0, one.wall_seconds - one.client_seconds - sum(one.task_seconds))
    return simulated_seconds(
        times, workers, tasks, dispatch / len(one.task_seconds), one.client_seconds, startup
    )


def _at_store(runs: Sequence[ScaleRun]) -> str:
    """Return a table of the largest table of each format on an object store, beside the local one."""
    stored = _of(runs, medium=OBJECT_STORE)
    table = []
    for label in dict.fromkeys(run.format for run in stored):
        chosen = _of(stored, format=label)
        first = max(chosen, key=lambda run: (run.rows, run.workers))
        same: dict[str, object] = {
            name: getattr(first, name) for name in ("engine", "workers", "rows", "partitions")
        }
        for medium in MEDIA:
            found = _of(runs, medium=medium, format=label, **same)
            if not found:
                continue
            spread = f"{first.rows:,} rows, {plural(first.workers, 'worker')}"
            row = [label, medium, spread, *_cells(found, STEPS, lambda run: f"{run.seconds:.2f}")]
            row += _cells(found, STEPS[:2], lambda run: f"{run.cpu_seconds:.2f}")
            table.append([*row, f"{max(run.peak_bytes for run in found) / MIB:.0f}"])
    if not table:
        return ""
    header = ["format", "medium", "table", *STEPS, "save, CPU", "read, CPU", "peak, MiB"]
    shown = "\n".join(table_lines(header, table, alignment="lll" + "r" * 7))
    server = f"{REAL} {VERSION}"
    return _AT_STORE.format(server=server) + shown + "\n\n" + _verdict(stored) + "\n\n"


def _engines(runs: Sequence[ScaleRun]) -> str:
    found = [name for name in ENGINES if _of(runs, engine=name)]
    if not found:
        return ""
    lines = [f"{name}: {_lines_of(name)} lines" for name in ENGINES]
    common = set.intersection(
        *({(run.rows, run.workers) for run in _of(runs, engine=name)} for name in found)
    )
    if len(found) == 1 or not common:
        return _ENGINES + f"Lines: {joined(lines)}.\n\n"
    rows, workers = max(common)
    header = ["format", "engine", *STEPS, "save, wall", "read, wall", "peak, MiB"]
    table = []
    for label in dict.fromkeys(run.format for run in runs):
        for name in found:
            chosen = _of(runs, engine=name, rows=rows, workers=workers, format=label)
            if not chosen:
                continue
            table.append(
                [
                    label,
                    name,
                    *_cells(chosen, STEPS, lambda run: f"{run.seconds:.2f}"),
                    *_cells(chosen, STEPS[:2], lambda run: f"{run.wall_seconds:.1f}"),
                    f"{max(run.peak_bytes for run in chosen) / MIB:.0f}",
                ]
            )
    of_engines = [run for name in found for run in _of(runs, engine=name, rows=rows, workers=workers)]
    text = f"{rows:,} rows, {plural(workers, 'worker')}, seconds. Lines: {joined(lines)}.\n\n"
    shown = "\n".join(table_lines(header, table, alignment="ll" + "r" * 7))
    return _ENGINES + text + shown + "\n\n" + _verdict(of_engines) + "\n\n"


def _lines_of(engine: str) -> int:
    found: type[ParallelEngine] = import_module(f"format_bench.parallel.{engine}").Engine
    return len(inspect.getsource(inspect.getmodule(found) or found).splitlines())


def _limited(runs: Sequence[ScaleRun]) -> str:
    chosen = _of(runs, engine=LIMITED)
    return _limited_table(chosen, _LIMITED, "rows") if chosen else ""


def _limited_table(chosen: Sequence[ScaleRun], head: str, unit: str) -> str:
    first = chosen[-1]
    table = []
    for label in dict.fromkeys(run.format for run in chosen):
        of_format = _of(chosen, format=label, rows=first.rows)
        steps = ("save", "read")
        table.append(
            [
                label,
                *_cells(of_format, steps, lambda run: f"{run.cpu_seconds:.1f}"),
                *_cells(of_format, steps, lambda run: f"{run.peak_bytes / MIB:.0f}"),
                *_cells(of_format, steps[:1], lambda run: f"{run.size_bytes / 1e6:.0f}"),
            ]
        )
    header = ["format", "save, CPU s", "read, CPU s", "save, peak MiB", "read, peak MiB", "MB"]
    intro = head.format(times=f"{first.frame_bytes / first.limit_bytes:.1f}")
    text = f"{first.rows:,} {unit} of `{first.dataset}`; limit: {first.memory}.\n\n"
    return intro + text + "\n".join(table_lines(header, table)) + "\n\n" + _verdict(chosen) + "\n\n"


def _arrays(runs: Sequence[ScaleRun]) -> str:
    """Return the sections on arrays, with a table for each array."""
    limited = _of(runs, engine=LIMITED)
    on_workers = [run for run in runs if run not in limited]
    parts = []
    for dataset, rows in dict.fromkeys((run.dataset, run.rows) for run in on_workers):
        chosen = _of(on_workers, dataset=dataset, rows=rows)
        steps = ("save", "read")
        header = ["store", "engine", "workers", "regions", *steps, "save, wall", "read, wall"]
        table = []
        for label, engine, workers in dict.fromkeys(
            (run.format, run.engine, run.workers) for run in chosen
        ):
            of_store = _of(chosen, format=label, engine=engine, workers=workers)
            table.append(
                [
                    label,
                    engine,
                    f"{workers}",
                    f"{of_store[0].partitions}",
                    *_cells(of_store, steps, lambda run: f"{run.seconds:.2f}"),
                    *_cells(of_store, steps, lambda run: f"{run.wall_seconds:.1f}"),
                    *_cells(of_store, steps, lambda run: f"{run.cpu_seconds:.2f}"),
                    f"{max(run.peak_bytes for run in of_store) / MIB:.0f}",
                    *_cells(of_store, steps[:1], lambda run: f"{run.size_bytes / 1e6:.0f}"),
                ]
            )
        header += ["save, CPU", "read, CPU", "peak, MiB", "MB"]
        shown = "\n".join(table_lines(header, table, alignment="ll" + "r" * 10))
        intro = f"{plural(rows, 'chunk')} of `{dataset}`. Seconds.\n\n"
        parts.append(intro + shown + "\n\n" + _verdict(chosen) + "\n\n")
    text = _ARRAYS + "".join(parts) if parts else ""
    return text + (_limited_table(limited, _ARRAYS_LIMITED, "chunks") if limited else "")
