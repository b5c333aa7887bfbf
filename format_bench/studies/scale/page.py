"""Blocks of the page on scale: jobs on workers, beside the adapter alone, and larger than the memory."""

from __future__ import annotations

import heapq
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from statistics import median

from format_bench.network.object_server import REAL, VERSION
from format_bench.parallel.engine import ENGINES, ParallelEngine
from format_bench.parallel.trials import LOCAL, MEDIA, OBJECT_STORE, STEPS, VERIFIED
from format_bench.results.display.text import joined, plural
from format_bench.studies.declared.blocks import Block, Context
from format_bench.studies.scale.scale_run import ALONE, ARRAYS, LIMITED, TABLES, ScaleRun

SIMULATED_WORKERS = (1, 2, 4, 8, 16, 32, 64)

# Partitions of the simulated job: four for each of 64 workers.
SIMULATED_TASKS = 256

MIB = 2**20

# Ends of the headings of a measure of steps, and its texts.
_MEASURES: dict[str, tuple[str, Callable[[ScaleRun], str]]] = {
    "seconds": ("", lambda run: f"{run.seconds:.2f}"),
    "wall": (", wall", lambda run: f"{run.wall_seconds:.1f}"),
    "CPU": (", CPU", lambda run: f"{run.cpu_seconds:.2f}"),
}


def _runs(context: Context, **wanted: object) -> list[ScaleRun]:
    """Return the last result of each step whose fields have some values."""
    spread = ("engine", "workers", "partitions", "medium", "format", "dataset", "rows", "step")
    found = {tuple(getattr(run, name) for name in spread): run for run in context.rows}
    return _of(found.values(), **wanted)


def _of(runs: Iterable[ScaleRun], **wanted: object) -> list[ScaleRun]:
    """Return the runs whose fields have these values."""
    return [run for run in runs if all(getattr(run, name) == value for name, value in wanted.items())]


def _local(context: Context) -> list[ScaleRun]:
    return _runs(context, family=TABLES, medium=LOCAL)


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


def _by_format(runs: Sequence[ScaleRun]) -> dict[tuple[str, ...], list[ScaleRun]]:
    return {(label,): _of(runs, format=label) for label in dict.fromkeys(run.format for run in runs)}


def tables(context: Context) -> Iterator[Block]:
    """Yield a table for each number of rows that most workers of Dask have had, the largest first."""
    of_dask = _of(_local(context), engine="dask")
    chosen = _of(of_dask, workers=max((run.workers for run in of_dask), default=0))
    for rows in sorted({run.rows for run in chosen}, reverse=True):
        runs = _of(chosen, rows=rows)
        first = runs[0]
        limit = f", each limited to {first.memory}" if first.memory else ""
        title = f"{rows:,} rows of {first.dataset} on {plural(first.workers, 'worker')}"
        text = f"{first.columns} columns, {plural(first.partitions, 'partition')}, Dask{limit}. Seconds."
        table = _measured(_by_format(runs), "format", "all seconds,wall,CPU,peak,MB")
        yield from _with(table, title, text, runs)


def beside_alone(context: Context) -> Iterator[Block]:
    """Yield wall times of the adapter alone and on workers, of the largest table."""
    runs = _local(context)
    chosen = _of(runs, engine=ALONE)
    if not chosen:
        return
    rows = max(run.rows for run in chosen)
    numbers = sorted({run.workers for run in _of(runs, engine="dask", rows=rows)})
    kinds = {(ALONE, 1): "alone"} | {("dask", each): plural(each, "worker") for each in numbers}
    header = ["format", *(f"{step}, {kind}" for step in STEPS[:2] for kind in kinds.values())]
    table = []
    for label in dict.fromkeys(run.format for run in chosen):
        line = [label]
        for step in STEPS[:2]:
            for engine, workers in kinds:
                of_kind = _of(runs, engine=engine, workers=workers, rows=rows, format=label)
                line += _cells(of_kind, [step], _MEASURES["wall"][1])
        table.append(line)
    text = f"{rows:,} rows of `{chosen[0].dataset}`."
    yield from _with(Block(header=header, rows=table), "", text, chosen)


def _strong(context: Context) -> list[tuple[ScaleRun, ScaleRun]]:
    """Return the saves of one and of two workers of the same table, a pair for each format."""
    saves = [run for run in _of(_local(context), engine="dask", step="save") if not run.status]
    found: dict[str, tuple[ScaleRun, ScaleRun]] = {}
    for two in _of(saves, workers=2):
        for one in _of(saves, workers=1, rows=two.rows, format=two.format):
            found.setdefault(two.format, (one, two))
    return list(found.values())


def scaling(context: Context) -> Iterator[Block]:
    """Yield the speed-up by a second worker, of the same table and of half of it."""
    saves = _of(_local(context), engine="dask", step="save", workers=1)
    table = []
    for one, two in _strong(context):
        halves = _of(saves, format=one.format, rows=one.rows // 2)
        weak = f"{halves[0].wall_seconds / two.wall_seconds:.2f}" if halves else "-"
        cpu, wall = (
            [f"{getattr(run, name):.1f}" for run in (one, two)]
            for name in ("cpu_seconds", "wall_seconds")
        )
        speed_up = f"{one.wall_seconds / two.wall_seconds:.2f}"
        table.append([one.format, *cpu, *wall, speed_up, weak])
    header = ["format", "CPU, 1 worker", "CPU, 2", "wall, 1 worker", "wall, 2", "speed-up", "weak"]
    if table:
        yield Block(header=header, rows=table)


def simulation(context: Context) -> Iterator[Block]:
    """Yield simulated times of more workers."""
    table = []
    for one, two in _strong(context):
        measured = two.wall_seconds / _simulated(one, 2, two.partitions)
        line = [f"{_simulated(one, workers, SIMULATED_TASKS):.1f}" for workers in SIMULATED_WORKERS]
        table.append([one.format, *line, f"{measured:.2f}"])
    header = ["format", *(f"{each}" for each in SIMULATED_WORKERS), "measured / simulated, 2"]
    if table:
        yield Block(header=header, rows=table)


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
    stored = _of(runs, medium=OBJECT_STORE)
    groups: dict[tuple[str, ...], list[ScaleRun]] = {}
    for label in dict.fromkeys(run.format for run in stored):
        first = max(_of(stored, format=label), key=lambda run: (run.rows, run.workers))
        same = {name: getattr(first, name) for name in ("engine", "workers", "rows", "partitions")}
        spread = f"{first.rows:,} rows, {plural(first.workers, 'worker')}"
        for medium in MEDIA:
            if found := _of(runs, medium=medium, format=label, **same):
                groups[label, medium, spread] = found
    if groups:
        table = _measured(groups, "format,medium,table", "all seconds,CPU,peak")
        yield from _with(table, "", f"The server is {REAL} {VERSION}. Seconds.", stored)


def engines(context: Context) -> Iterator[Block]:
    """Yield the same jobs on each engine, and the lengths of the engines' files."""
    runs = _local(context)
    found = [name for name in ENGINES if _of(runs, engine=name)]
    if not found:
        return
    lines = f"Lines: {joined(f'{name}: {_lines_of(name)} lines' for name in ENGINES)}."
    common = set.intersection(
        *({(run.rows, run.workers) for run in _of(runs, engine=name)} for name in found)
    )
    if len(found) == 1 or not common:
        yield from (Block(), Block(text=lines))
        return
    rows, workers = max(common)
    same = _of(runs, rows=rows, workers=workers)
    pairs = ((label, name) for label in dict.fromkeys(run.format for run in runs) for name in found)
    groups = {(label, name): _of(same, format=label, engine=name) for label, name in pairs}
    table = _measured({pair: own for pair, own in groups.items() if own}, "format,engine",
                      "all seconds,wall,peak")  # fmt: skip
    of_engines = [run for name in found for run in _of(same, engine=name)]
    text = f"{rows:,} rows, {plural(workers, 'worker')}, seconds. {lines}"
    yield from _with(table, "", text, of_engines)


def _lines_of(engine: str) -> int:
    found: type[ParallelEngine] = import_module(f"format_bench.parallel.{engine}").Engine
    return len(inspect.getsource(inspect.getmodule(found) or found).splitlines())


def limited(context: Context, family: str, unit: str) -> Iterator[Block]:
    """Yield the steps of a family under a limit of memory, of the data that were measured last."""
    chosen = _runs(context, engine=LIMITED, family=family)
    if not chosen:
        return
    last = chosen[-1]
    table = []
    for (label,), runs in _by_format(_of(chosen, rows=last.rows)).items():
        cells = [label, *_cells(runs, STEPS[:2], lambda run: f"{run.cpu_seconds:.1f}")]
        cells += _cells(runs, STEPS[:2], lambda run: f"{run.peak_bytes / MIB:.0f}")
        table.append([*cells, *_cells(runs, STEPS[:1], lambda run: f"{run.size_bytes / 1e6:.0f}")])
    header = ["format", "save, CPU s", "read, CPU s", "save, peak MiB", "read, peak MiB", "MB"]
    times = f"in memory they would need {last.frame_bytes / last.limit_bytes:.1f} times the limit"
    text = f"{last.rows:,} {unit} of `{last.dataset}`; limit: {last.memory}; {times}."
    yield from _with(Block(header=header, rows=table), "", text, chosen)


def arrays(context: Context) -> Iterator[Block]:
    """Yield a table for each array on workers."""
    on_workers = [run for run in _runs(context, family=ARRAYS) if run.engine != LIMITED]
    for dataset, rows in dict.fromkeys((run.dataset, run.rows) for run in on_workers):
        chosen = _of(on_workers, dataset=dataset, rows=rows)
        groups: dict[tuple[str, ...], list[ScaleRun]] = {}
        for run in chosen:
            own = _of(chosen, format=run.format, engine=run.engine, workers=run.workers)
            groups[run.format, run.engine, f"{run.workers}", f"{own[0].partitions}"] = own
        table = _measured(groups, "store,engine,workers,regions", "seconds,wall,CPU,peak,MB")
        text = f"{plural(rows, 'chunk')} of `{dataset}`. Seconds."
        yield from _with(table, "", text, chosen)
