"""Blocks of the page on scale: jobs on workers, beside the adapter alone, and larger than the memory."""

from __future__ import annotations

import heapq
import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from statistics import median

from format_bench.network.object_server import REAL, VERSION
from format_bench.parallel.engine import ENGINES, ParallelEngine
from format_bench.parallel.trials import LOCAL, MEDIA, OBJECT_STORE, STEPS, VERIFIED
from format_bench.results.display.text import joined, plural
from format_bench.studies.declared.blocks import Block, Context
from format_bench.studies.declared.rows import grouped
from format_bench.studies.scale.scale_run import ALONE, ARRAYS, LIMITED, TABLES, ScaleRun

SIMULATED_WORKERS = (1, 2, 4, 8, 16, 32, 64)

# Partitions of the simulated job: four for each of 64 workers.
SIMULATED_TASKS = 256

MIB = 2**20

# What tells tables apart: figures of several stand in no table of the page together.
_TABLE = ("dataset", "rows", "partitions", "memory")

# Ends of the headings of a measure of steps, and its texts.
_MEASURES: dict[str, tuple[str, Callable[[ScaleRun], str]]] = {
    "seconds": ("", lambda run: f"{run.seconds:.2f}"),
    "wall": (", wall", lambda run: f"{run.wall_seconds:.1f}"),
    "CPU": (", CPU", lambda run: f"{run.cpu_seconds:.2f}"),
}


def _runs(context: Context, **wanted: object) -> list[ScaleRun]:
    """Return the last result of each step whose fields have some values."""
    spread = (*_TABLE, "engine", "workers", "medium", "format", "step")
    found = {tuple(getattr(run, name) for name in spread): run for run in context.rows}
    return _of(found.values(), **wanted)


def _of(runs: Iterable[ScaleRun], **wanted: object) -> list[ScaleRun]:
    """Return the runs whose fields have these values."""
    return [run for run in runs if all(getattr(run, name) == value for name, value in wanted.items())]


def _local(context: Context) -> list[ScaleRun]:
    return _runs(context, family=TABLES, medium=LOCAL)


def _limit(memory: str) -> str:
    """Return the end of a phrase on workers with a limit of memory; empty if they have none."""
    return f", each limited to {memory}" if memory else ""


def _cells(runs: Sequence[ScaleRun], steps: Sequence[str], text: Callable[[ScaleRun], str]) -> list[str]:
    """Return a text for each step, or its status."""
    found = {run.step: run for run in runs}
    return ["-" if step not in found else found[step].status or text(found[step]) for step in steps]


def _measured(groups: dict[tuple[str, ...], list[ScaleRun]], heads: str, measures: str) -> Block:
    """Return a table with a row for each group.

    Parameters
    ----------
    groups : dict
        The steps of each row, by the texts of its first columns.
    heads : str
        Headings of these columns, with commas.
    measures : str
        Names of `_MEASURES`, "all" before one of all steps; "peak", "MB".
    """
    header, rows = heads.split(","), [list(texts) for texts in groups]
    for name in measures.split(","):
        own = STEPS if name.startswith("all ") else STEPS[:2]
        match name:
            case "peak":
                header.append("peak, MiB")
            case "MB":
                header.append("MB")
            case _:
                header += [f"{step}{_MEASURES[name.removeprefix('all ')][0]}" for step in own]
        for cells, runs in zip(rows, groups.values(), strict=True):
            match name:
                case "peak":
                    cells.append(f"{max(run.peak_bytes for run in runs) / MIB:.0f}")
                case "MB":
                    cells.extend(_cells(runs, STEPS[:1], lambda run: f"{run.size_bytes / 1e6:.0f}"))
                case _:
                    cells.extend(_cells(runs, own, _MEASURES[name.removeprefix("all ")][1]))
    words = sum(head in {"format", "store", "engine", "medium", "table"} for head in header)
    return Block(header=header, rows=rows, alignment="l" * words + "r" * (len(header) - words))


def _with(block: Block, title: str, text: str, runs: Sequence[ScaleRun]) -> Iterator[Block]:
    """Yield a table under a title, or the section's, and how many of its digests are equal."""
    if not title:
        yield Block()  # the section's title and text
    yield Block(title, text, block.header, block.rows, block.alignment)
    checked = [run for run in runs if run.step in {"read", "two columns"} and not run.status]
    equal = [run for run in checked if run.sentence == VERIFIED]
    sentences = dict.fromkeys(f"{run.format}, {run.step}: {run.sentence}." for run in runs if run.status)
    verdict = f"Digests are equal in {len(equal)} of {len(checked)} reads."
    yield Block(text=" ".join([verdict, *sentences]))


def tables(context: Context) -> Iterator[Block]:
    """Yield the tables that most workers of Dask have had, by data set and limit, the largest first."""
    chosen = [
        run
        for runs in grouped(_of(_local(context), engine="dask"), "dataset", "memory").values()
        for run in _of(runs, workers=max(each.workers for each in runs))
    ]
    by_table = grouped(chosen, *_TABLE).values()
    for runs in sorted(by_table, key=lambda each: each[0].rows, reverse=True):
        first = runs[0]
        title = f"{first.rows:,} rows of {first.dataset} on {plural(first.workers, 'worker')}"
        spread = f"{plural(first.partitions, 'partition')}, Dask{_limit(first.memory)}"
        text = f"{first.columns} columns, {spread}. Seconds."
        table = _measured(grouped(runs, "format"), "format", "all seconds,wall,CPU,peak,MB")
        yield from _with(table, title, text, runs)


def beside_alone(context: Context) -> Iterator[Block]:
    """Yield wall times of the adapter alone and on workers, of the largest table of each data set."""
    runs = _local(context)
    for (dataset,), alone in grouped(_of(runs, engine=ALONE), "dataset").items():
        rows = max(run.rows for run in alone)
        for (partitions,), chosen in grouped(_of(alone, rows=rows), "partitions").items():
            of_dask = _of(runs, engine="dask", dataset=dataset, rows=rows, partitions=partitions)
            kinds = {"alone": chosen} | {
                plural(workers, "worker") + _limit(memory): own
                for (workers, memory), own in sorted(grouped(of_dask, "workers", "memory").items())
            }
            header = ["format", *(f"{step}, {kind}" for step in STEPS[:2] for kind in kinds)]
            table = []
            for label in dict.fromkeys(run.format for run in chosen):
                line = [label]
                for step, own in itertools.product(STEPS[:2], kinds.values()):
                    line += _cells(_of(own, format=label), [step], _MEASURES["wall"][1])
                table.append(line)
            text = f"{rows:,} rows of `{dataset}`, {plural(partitions, 'partition')}."
            yield from _with(Block(header=header, rows=table), "", text, chosen)


def _strong(context: Context) -> Iterator[list[tuple[ScaleRun, ScaleRun]]]:
    """Yield the saves of one and of two workers of each table, a pair for each format."""
    saves = _of(_local(context), engine="dask", step="save", status="")
    for runs in grouped(saves, *_TABLE).values():
        pairs = [
            (one, two) for two in _of(runs, workers=2) for one in _of(runs, workers=1, format=two.format)
        ]
        if pairs:
            yield pairs


def _of_table(run: ScaleRun, header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[Block]:
    """Yield rows on one table, which the text names, in a section of the same on each."""
    spread = f"{plural(run.partitions, 'partition')}, Dask{_limit(run.memory)}"
    yield Block()  # the section's title and text
    yield Block(text=f"{run.rows:,} rows of `{run.dataset}`, {spread}.", header=header, rows=rows)


def scaling(context: Context) -> Iterator[Block]:
    """Yield the speed-up by a second worker, of the same table and of half of it."""
    saves = _of(_local(context), engine="dask", step="save", workers=1, status="")
    header = ["format", "CPU, 1 worker", "CPU, 2", "wall, 1 worker", "wall, 2", "speed-up", "weak"]
    for pairs in _strong(context):
        table = []
        for one, two in pairs:
            same = {name: getattr(one, name) for name in ("format", "dataset", "memory")}
            halves = _of(saves, rows=one.rows // 2, **same)
            weak = f"{halves[0].wall_seconds / two.wall_seconds:.2f}" if halves else "-"
            cpu, wall = (
                [f"{getattr(run, name):.1f}" for run in (one, two)]
                for name in ("cpu_seconds", "wall_seconds")
            )
            speed_up = f"{one.wall_seconds / two.wall_seconds:.2f}"
            table.append([one.format, *cpu, *wall, speed_up, weak])
        yield from _of_table(pairs[0][0], header, table)


def simulation(context: Context) -> Iterator[Block]:
    """Yield simulated times of more workers."""
    header = ["format", *(f"{each}" for each in SIMULATED_WORKERS), "measured / simulated, 2"]
    for pairs in _strong(context):
        table = []
        for one, two in pairs:
            measured = two.wall_seconds / _simulated(one, 2, two.partitions)
            line = [f"{_simulated(one, workers, SIMULATED_TASKS):.1f}" for workers in SIMULATED_WORKERS]
            table.append([one.format, *line, f"{measured:.2f}"])
        yield from _of_table(pairs[0][0], header, table)


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


def simulated_seconds(  # noqa: PLR0913, PLR0917 (the parameters of a job)
    task_seconds: Sequence[float],
    workers: int,
    tasks: int,
    dispatch_seconds: float,
    client_seconds: float,
    startup_seconds: float = 0.0,
) -> float:
    """Return the wall time of a job on some workers, each of which takes the next task when it is free.

    The client hands out one task after the other. Workers do not disturb each other: disks and networks
    that they share are not in the model.

    Parameters
    ----------
    task_seconds : sequence of float
        Measured times of tasks; repeated in order if the job has more of them.
    workers : int
        Number of workers.
    tasks : int
        Number of tasks of the job.
    dispatch_seconds : float
        Time of the client for each task.
    client_seconds : float
        Time of the client at the end of the job, e.g. the commit.
    startup_seconds : float
        Time of each worker before its first task, e.g. for imports.
    """
    free = [startup_seconds] * workers
    handed_out = 0.0
    for number in range(tasks):
        handed_out += dispatch_seconds
        start = max(heapq.heappop(free), handed_out)
        heapq.heappush(free, start + task_seconds[number % len(task_seconds)])
    return max(free) + client_seconds


def at_store(context: Context) -> Iterator[Block]:
    """Yield the largest table of each format on an object store, beside the local one."""
    runs = _runs(context, family=TABLES)
    in_store = grouped(_of(runs, medium=OBJECT_STORE), "dataset", "memory")
    for (dataset, memory), stored in in_store.items():
        groups: dict[tuple[str, ...], list[ScaleRun]] = {}
        for label in dict.fromkeys(run.format for run in stored):
            first = max(_of(stored, format=label), key=lambda run: (run.rows, run.workers))
            same = {name: getattr(first, name) for name in (*_TABLE, "engine", "workers")}
            spread = f"{first.rows:,} rows, {plural(first.workers, 'worker')}"
            for medium in MEDIA:
                if found := _of(runs, medium=medium, format=label, **same):
                    groups[label, medium, spread] = found
        table = _measured(groups, "format,medium,table", "all seconds,CPU,peak")
        kind = f"Tables of `{dataset}` on workers{_limit(memory)}."
        yield from _with(table, "", f"{kind} The server is {REAL} {VERSION}. Seconds.", stored)


def engines(context: Context) -> Iterator[Block]:
    """Yield the lengths of the engines' files, and the largest jobs that they have in common."""
    of_engines = [run for run in _local(context) if run.engine in ENGINES]
    if not of_engines:
        return
    lines = joined(f"{name}: {_lines_of(name)} lines" for name in ENGINES)
    yield from (Block(), Block(text=f"Lines: {lines}."))
    for runs in grouped(of_engines, "dataset").values():
        found = {run.engine for run in runs}
        jobs = grouped(runs, "rows", "workers", "partitions").values()
        common = [own for own in jobs if {run.engine for run in own} == found]
        if len(found) == 1 or not common:
            continue
        largest = max(common, key=lambda own: (own[0].rows, own[0].workers))
        labels = [*dict.fromkeys(run.format for run in largest)]
        largest.sort(key=lambda run: (labels.index(run.format), ENGINES.index(run.engine)))
        groups: dict[tuple[str, ...], list[ScaleRun]] = {
            (label, f"{engine}{_limit(memory)}"): own
            for (label, engine, memory), own in grouped(largest, "format", "engine", "memory").items()
        }
        table, first = _measured(groups, "format,engine", "all seconds,wall,peak"), largest[0]
        text = f"{first.rows:,} rows of `{first.dataset}`, {plural(first.workers, 'worker')}, seconds."
        yield from _with(table, "", text, largest)


def _lines_of(engine: str) -> int:
    found: type[ParallelEngine] = import_module(f"format_bench.parallel.{engine}").Engine
    return len(inspect.getsource(inspect.getmodule(found) or found).splitlines())


def limited(context: Context, family: str, unit: str) -> Iterator[Block]:
    """Yield the steps of a family under limits of memory, a table for each data set, size and limit."""
    header = ["format", "save, CPU s", "read, CPU s", "save, peak MiB", "read, peak MiB", "MB"]
    for runs in grouped(_runs(context, engine=LIMITED, family=family), *_TABLE).values():
        table = []
        for (label,), own in grouped(runs, "format").items():
            cells = [label, *_cells(own, STEPS[:2], lambda run: f"{run.cpu_seconds:.1f}")]
            cells += _cells(own, STEPS[:2], lambda run: f"{run.peak_bytes / MIB:.0f}")
            table.append([*cells, *_cells(own, STEPS[:1], lambda run: f"{run.size_bytes / 1e6:.0f}")])
        first, frame_bytes = runs[0], max(run.frame_bytes for run in runs)
        times = f"in memory they would need {frame_bytes / first.limit_bytes:.1f} times the limit"
        text = f"{first.rows:,} {unit} of `{first.dataset}`; limit: {first.memory}; {times}."
        yield from _with(Block(header=header, rows=table), "", text, runs)


def arrays(context: Context) -> Iterator[Block]:
    """Yield a table for each array on workers."""
    on_workers = [run for run in _runs(context, family=ARRAYS) if run.engine != LIMITED]
    for (dataset, rows), chosen in grouped(on_workers, "dataset", "rows").items():
        groups: dict[tuple[str, ...], list[ScaleRun]] = {
            (label, f"{engine}{_limit(memory)}", f"{workers}", f"{own[0].partitions}"): own
            for (label, engine, memory, workers), own in grouped(
                chosen, "format", "engine", "memory", "workers"
            ).items()
        }
        table = _measured(groups, "store,engine,workers,regions", "seconds,wall,CPU,peak,MB")
        text = f"{plural(rows, 'chunk')} of `{dataset}`. Seconds."
        yield from _with(table, "", text, chosen)
