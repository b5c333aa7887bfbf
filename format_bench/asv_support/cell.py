"""Cell of an asv suite: an adapter, its file, and the reason where there is no value.

Each process of asv makes one. All cells of a suite share a working directory, where the data sets are.
One process measures a step with all its metrics, as the runner does, and notes them for the other
benchmarks that report one of them; the first that saves leaves its file for those that read.
"""

from __future__ import annotations

import functools
import glob
import importlib.util
import json
import pickle
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any, cast

from adapter_core import (
    BaseAdapter,
    CannotHoldError,
    UnavailableError,
    UnknownNameError,
    UnsupportedError,
)
from adapter_core.errors import WrongValuesError
from adapter_core.files import is_partial
from adapter_core.text import shortened
from format_bench.asv_support.rounds import Round
from format_bench.asv_support.run import (
    DATA,
    FILES,
    NOTES,
    journal,
    metadata_file,
    missing,
    rounds_file,
)
from format_bench.conditions import axes
from format_bench.families.cases import codec_of, codec_on
from format_bench.families.measuring import measure_step, measure_steps
from format_bench.families.operations import Measured, Operations, operations_of, registry_of
from format_bench.families.questions import declared
from format_bench.instruments import isolation
from format_bench.instruments.clock import ON_CLOCK, Effort
from format_bench.results.environments import own_environment
from format_bench.results.metrics import METRICS
from format_bench.results.status import CellStatus, status_of
from format_bench.results.suites import Family, Step, Suite

# Free disk space that a save asks for, as a multiple of the raw data: Base64 takes 1.34, and the file
# system something.
ROOM = 1.5

# Time for a process of another interpreter to end, after its limit; asv waits for 30 s.
_ENDING_SECONDS = 15.0


class CellRun:
    """One file of a suite: saved, kept, read and judged by the benchmarks.

    Parameters
    ----------
    family : Family
        The kind of data.
    suite : Suite
        The suite; as the checkout declares it, like `family`.
    benchmark : str
        Name of the class of benchmarks, e.g. "TabularRead".
    params : sequence of str
        The parameters of the benchmark: format, data set, codec choice if the suite has any, and others.
    scale : str
        The scale, which decides where results are.
    limit_seconds : float
        Wall time after which the process is ended as timed out.
    settings : str
        Settings of saves, a value of that axis; empty for the usual ones.
    """

    operations: Operations

    def __init__(  # noqa: PLR0913, PLR0917 (asv's coordinates of a cell)
        self,
        family: Family,
        suite: Suite,
        benchmark: str,
        params: Sequence[str],
        scale: str,
        limit_seconds: float,
        settings: str = "",
    ) -> None:
        self.family, self.suite, self.params = family, suite, params
        self.benchmark = f"{suite.name}.{benchmark}"
        declared = suite.benchmark(benchmark)
        self._own_track = declared.track if declared else ""
        self._settings = settings
        has_choice = (suite.codecs or (suite.tracks and not self._own_track)) and not settings
        # The parameters that tell files apart; others, as the page cache, do not change a file.
        self._file_params = params[: 3 if has_choice else 2]
        label, dataset, *choice = self._file_params
        self.label, self.dataset = label, dataset
        choice = choice or [self._own_track] * bool(self._own_track)
        self._choice = choice[0] if choice else None
        self._name = "-".join([dataset, label, *choice, *filter(None, [settings])])
        self.journal, self.metadata_file = journal(scale), metadata_file(scale)
        self.rounds_file = rounds_file(scale)
        self.limit_seconds, self._scale = limit_seconds, scale
        # The step that saves the file of the others, or needs none.
        self._first_step = family.steps_of(suite)[0]
        self._unkept = False

    def start(self) -> Operations:
        """Return the operations of the cell, warmed up; skip the cell, with a reason, if it cannot run.

        If the cell hung or crashed earlier in this run, here or where its file is saved, it fails at
        once instead of waiting again.

        Raises
        ------
        NotImplementedError
            asv's sign that a cell is skipped.
        """
        if missing(self.dataset).exists():
            reason = missing(self.dataset).read_text(encoding="utf-8")
            raise self.skip(CellStatus.UNAVAILABLE, NotImplementedError(reason))
        registry = registry_of(self.family)
        try:
            # Before the libraries are imported, which takes longer than all else in a cell without it.
            codec, level = self._codec(registry.find(self.label))
            adapter: BaseAdapter = registry.get(self.label)
        except (UnavailableError, UnknownNameError) as error:
            raise self.skip(CellStatus.UNAVAILABLE, error) from error
        saving = self.suite.saves(self._own_track, self._settings)
        for benchmark in (self.benchmark, f"{self.suite.name}.{saving}"):
            earlier = self.journal.ended_badly(benchmark, self._file_params)
            if earlier:
                # A process that is ended in a save leaves what may fill the disk.
                adapter.remove(self._path(adapter, "new"))
                self._write(earlier.status, earlier.sentence)
                raise RuntimeError(earlier.sentence)
        spent_seconds = time.monotonic() - _process_start()
        self.journal.watch(self.benchmark, self.params, max(1.0, self.limit_seconds - spent_seconds))
        track = (self._choice or "") if self.suite.tracks else ""
        own = (each for each in self.suite.benchmarks if each.track == self._own_track)
        wanted = {query for each in own for query in each.queries}
        operations = operations_of(self.family)
        asked = declared(operations.family).to(self.dataset)
        self.operations = operations.on(
            DATA / self.dataset,
            *(adapter, codec, level, track),
            subject=(self.dataset, self.suite.size(self.dataset, self._scale)),
            questions=asked.only(*(each for each in asked.by_name if each in wanted)),
            is_warm=False,
        )
        self.guard(self.operations.warm_up)
        if self._settings:
            # Left by the end of the process.
            self.guard(axes()["settings"].under(self._settings, self.operations).__enter__)
        return self.operations

    @property
    def data(self) -> Any:
        """The data set of the cell; loaded once in a process."""
        return _load(self.family.name, self.dataset)

    @property
    def new_path(self) -> Path:
        """Where a measured save puts its file."""
        return self._path(self.operations.adapter, "new")

    def check(self) -> None:
        """Skip the cell, with a reason, if the adapter cannot keep the data, or the disk lacks room.

        Kept files leave theirs, since other programs may have taken what was left for the next one.
        """
        try:
            self.operations.check(self.data)
        except CannotHoldError as error:
            self._refusal.write_text(str(error), encoding="utf-8")
            raise self.skip(CellStatus.UNSUPPORTED, error) from error
        except Exception as error:
            self._fail(error)
            raise
        needed, free = self._room()
        for path in _kept_files() if free < needed else ():
            self.operations.adapter.remove(path)
            needed, free = self._room()
            if free >= needed:
                break
        if free < needed:
            why = f"the disk has {free / 1e9:.0f} GB free; the data may take {needed / 1e9:.0f} GB"
            raise self.skip(CellStatus.UNAVAILABLE, UnavailableError(self.label, why, "free some"))

    def keep(self, path: Path) -> None:
        """Keep the file that a measured save has left, if any, while the disk has room for others.

        A file that is not kept is saved again, unmeasured, for each benchmark that reads it: together,
        all storages of ImageNet-100 take 300 GB.
        """
        if self._is_full():
            self.operations.adapter.remove(path)
        elif path.exists():
            self.operations.adapter.remove(self._kept)
            path.rename(self._kept)

    def leave_file(self) -> bool:
        """Save a file for benchmarks that read it, unmeasured; return whether it is for one alone."""
        self.start()
        self.check()
        self.guard(lambda: self.operations.save(self.data, self._kept))
        self.journal.unwatch()
        return self._is_full()

    def is_begun(self, metric: str, cache: str | None) -> bool:
        """Return whether a process has measured the step of a metric, or found that there is none."""
        return bool(self._rounds(self._step_of(metric, cache))) or self._refusal.exists()

    def times_put_off(self, metric: str, cache: str | None) -> int:
        """Return how many rounds of this run have left a metric to later ones for want of time."""
        note = self._put_off(metric, cache)
        return note.stat().st_size if note.exists() else 0

    def put_off(self, metric: str, cache: str | None) -> None:
        """Note that a round leaves a metric to later ones."""
        with self._put_off(metric, cache).open("ab") as note:
            note.write(b".")

    def _put_off(self, metric: str, cache: str | None) -> Path:
        return self._note(f"{metric}-{cache}.put-off")

    def samples(self, metric: str, cache: str | None, effort: Effort, query: str = "") -> list[float]:
        """Return the samples of a metric from one process, measured here or noted by another.

        The n-th call of a benchmark for a cell returns the samples of the n-th process, so that several
        rounds of asv never get the same samples twice.

        Parameters
        ----------
        metric : str
            One of the family's steps has to measure it.
        cache : str, optional
            State of the page cache, "warm" or "cold", if the benchmark has several.
        effort : Effort
            Limits of the repeats of a process.
        query : str
            The query, if the benchmark has several.

        Raises
        ------
        NotImplementedError
            asv's sign that a cell is skipped.
        """
        step = self._step_of(metric, cache)
        taken = self._note(f"{step.name}-{_key(metric, query)}.taken")
        number = int(taken.read_text(encoding="ascii")) if taken.exists() else 0
        if number >= len(self._rounds(step)):
            self._measure(step, effort)
        found = self._samples_of(step, metric, query)[number]
        taken.write_text(str(number + 1), encoding="ascii")
        self.rounds_file.append(self.benchmark, self.params, metric, [found])
        return found.repeats

    def all_samples(
        self, metric: str, cache: str | None, effort: Effort, query: str = "", *, rounds: int
    ) -> list[float]:
        """Return the samples of a metric from all processes, for a benchmark that asv calls once.

        asv has rounds of times only, and calls the others in the last one.

        Parameters
        ----------
        metric, cache, effort, query
            As `samples` takes them.
        rounds : int
            Number of processes that should measure a step. If others have measured fewer times, this
            one does.

        Raises
        ------
        NotImplementedError
            asv's sign that a cell is skipped.
        """
        step = self._step_of(metric, cache)
        if len(self._rounds(step)) < rounds:
            self._measure(step, effort)
        found = self._samples_of(step, metric, query)
        self.rounds_file.append(self.benchmark, self.params, metric, found)
        return [sample for each in found for sample in each.repeats]

    def _step_of(self, metric: str, cache: str | None) -> Step:
        # The peak of the process is noted beside the growth, and no metric of the step elsewhere.
        step = self.family.step_of(metric.replace(" peak ", " "), cache)
        if step is None:
            raise AssertionError(f"no step of {self.family.name} measures {metric}")
        return step

    def _measure(self, step: Step, effort: Effort) -> None:
        """Measure a step and those that share its process, and note all their metrics.

        Raises
        ------
        NotImplementedError
            asv's sign that a cell is skipped.
        """
        if self._refusal.exists():  # before the libraries are imported, for each metric of the cell
            reason = self._refusal.read_text(encoding="utf-8")
            raise self.skip(CellStatus.UNSUPPORTED, NotImplementedError(reason))
        own = own_environment(self.label, self.suite.name)
        try:
            interpreter = own.interpreter(self.label) if own else sys.executable
        except UnavailableError as error:
            raise self.skip(CellStatus.UNAVAILABLE, error) from error
        if step is not self._first_step and not any(FILES.glob(f"{glob.escape(self._name)}-kept*")):
            # A process that saves itself would have the memory of that in the peak of its read.
            self._unkept = self._in_process(interpreter, "leave_file")
        if own:
            self._in_process(interpreter, "measure_here", step, effort)
        else:
            self.measure_here(step, effort)

    def _in_process(self, interpreter: str, method: str, *arguments: Any) -> Any:
        """Return what a method returns in a process of its own.

        Raises
        ------
        NotImplementedError
            asv's sign that a cell is skipped.
        """
        declared = sys.modules[type(self.suite).__module__]
        task = pickle.dumps((self, method, arguments))
        outcome = isolation.run(
            *(_called, declared.__name__, declared.__file__, task),
            # The process ends itself at its limit, and leaves a note where it was.
            limit_seconds=self.limit_seconds + _ENDING_SECONDS,
            interpreter=interpreter,
        )
        if outcome.error == NotImplementedError.__name__:
            raise NotImplementedError(outcome.sentence)
        if outcome.status:
            if not outcome.error:
                self._write(outcome.status, outcome.sentence)
            raise RuntimeError(outcome.sentence)
        return outcome.value

    def measure_here(self, step: Step, effort: Effort) -> None:
        """Measure a step in this process, and note the metrics of all steps that share it."""
        operations = self.start()
        saves = step is self._first_step
        if saves:
            self.check()
        path = self.new_path if saves else self._kept
        effort = replace(effort, round_number=len(self._rounds(step)))

        before = ON_CLOCK.seconds
        try:
            self.guard(lambda: self._measure_file(step, operations, path, effort))
        except Exception:
            if saves:
                operations.adapter.remove(path)
            raise
        finally:
            seconds = ON_CLOCK.seconds - before
            place = self.benchmark, self.params, step.name, effort.round_number
            self.rounds_file.append_on_clock(*place, seconds)
        if saves:
            self.guard(lambda: self.keep(path))
        self.end()

    def _measure_file(self, step: Step, operations: Operations, path: Path, effort: Effort) -> None:
        together = [step] if step is self._first_step else self._reading_steps
        try:
            for name, measured in measure_steps(
                together, operations, lambda: self.data, path, effort
            ).items():
                self._note_round(name, measured)
        except (CannotHoldError, WrongValuesError):
            raise
        except Exception:
            if together == [step]:
                raise
            # An error of one step, e.g. a file that cannot be cold, leaves the others their values.
            measured = measure_step(step, operations, lambda: self.data, path, effort)
            self._note_round(step.name, measured)

    @property
    def _reading_steps(self) -> list[Step]:
        """The steps on a saved file that benchmarks of the suite report."""
        return [
            step
            for step in self.family.steps[1:]
            if any(
                self.family.step_of(metric, cache) is step
                for each in self.suite.benchmarks
                if each.settings == self._settings
                for cache in each.caches or (None,)
                for metric in each.metrics
            )
        ]

    def _note_round(self, step: str, measured: list[Measured]) -> None:
        facts = {
            _key(each.metric, each.query): {
                "repeats": list(each.repeats),
                "cpu": list(each.cpu),
                "loop": list(each.loop),
                "sentence": each.sentence,
                "status": each.status,
            }
            for each in measured
        }
        with self._note(f"{step}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(facts) + "\n")

    def _rounds(self, step: Step) -> list[dict[str, Any]]:
        """Return the measurements of a step by metric, a dictionary for each process that made them."""
        path = self._note(f"{step.name}.jsonl")
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [json.loads(line) for line in lines]

    def _samples_of(self, step: Step, metric: str, query: str) -> list[Round]:
        """Return the samples of a metric from each process; write its remark, if any.

        Raises
        ------
        NotImplementedError
            If a process lacks it.
        """
        found = [each[_key(metric, query)] for each in self._rounds(step)]
        for each in found:
            if each["status"] != CellStatus.VALUE:
                why = NotImplementedError(each["sentence"])
                raise self.skip(CellStatus(each["status"]), why)
        if METRICS[metric].remarked and found[-1]["sentence"]:
            self._write(CellStatus.VALUE, found[-1]["sentence"])
        return [Round(each["repeats"], each["cpu"], each["loop"]) for each in found]

    def end(self) -> None:
        """End a step without an error."""
        self.journal.unwatch()
        self.metadata_file.note_end()
        if self._unkept:
            self.operations.adapter.remove(self._kept)

    def guard(self, step: Callable[[], object]) -> None:
        """Do a part of a measurement; record an error, of which asv keeps nothing.

        Raises
        ------
        NotImplementedError
            asv's sign that a cell is skipped, if the error is the reason for a missing value: a file
            that cannot be evicted from the page cache, a missing package, data that a format refuses.
        """
        try:
            step()
        except Exception as error:
            if (status := status_of(error)) is not CellStatus.FAILED:
                raise self.skip(status, error) from error
            self._fail(error)
            raise

    def skip(self, status: CellStatus, error: Exception) -> NotImplementedError:
        """Record why the cell is skipped, and return the error that makes asv skip it."""
        self.journal.unwatch()
        self._write(status, str(error))
        return NotImplementedError(str(error))

    @property
    def _kept(self) -> Path:
        return self._path(self.operations.adapter, "kept")

    def _path(self, adapter: BaseAdapter, kind: str) -> Path:
        return FILES / f"{self._name}-{kind}{adapter.suffix}"

    def _codec(self, adapter: Any) -> tuple[str | None, int | None]:
        """Return codec and level; skip the cell, with a reason, if the format has no such choice."""
        if self._choice is None:
            return None, None
        if self.suite.tracks:
            return codec_on(self.suite.tracks_by_name[self._choice], adapter)
        try:
            return codec_of(adapter, self._choice)
        except UnsupportedError as error:
            raise self.skip(CellStatus.UNSUPPORTED, error) from error

    def _is_full(self) -> bool:
        """Return whether the disk has no room for another file."""
        needed, free = self._room()
        return free < needed

    def _room(self) -> tuple[float, int]:
        """Return the bytes that a save may take, 0 for data of usual size, and the free ones."""
        return ROOM * (self.operations.raw_bytes(self.data) or 0), shutil.disk_usage(FILES).free

    @property
    def _refusal(self) -> Path:
        return self._note("refused")

    def _note(self, name: str) -> Path:
        return NOTES / f"{self._name}-{name}"

    def _fail(self, error: Exception) -> None:
        """Record the error that a measurement ended with."""
        self.journal.unwatch()
        named = str(error) if isinstance(error, WrongValuesError) else f"{type(error).__name__}: {error}"
        self._write(CellStatus.FAILED, shortened(named))

    def _write(self, status: CellStatus, sentence: str) -> None:
        self.journal.write(self.benchmark, self.params, status, sentence)


def _key(metric: str, query: str) -> str:
    """Return the name of a metric in the notes of a process."""
    return f"{metric} {query}" if query else metric


def _kept_files() -> list[Path]:
    """Return the kept files, the newest first.

    Benchmarks go through the formats in one order, so that those of the oldest are read next.
    """
    found = [each for each in FILES.glob("*-kept*") if not is_partial(each.name)]
    return sorted(found, key=lambda each: each.stat().st_mtime, reverse=True)


def _called(declarations: str, file: str, task: bytes) -> Any:
    """Call a method of a cell, and return its result.

    Parameters
    ----------
    declarations, file : str
        Name and file of the module that declares the cell's suite, which may be the checkout's.
    task : bytes
        The cell, the name of the method, and its arguments, which need that module.
    """
    if declarations not in sys.modules and not importlib.util.find_spec(declarations):
        spec = cast("ModuleSpec", importlib.util.spec_from_file_location(declarations, file))
        sys.modules[declarations] = module = importlib.util.module_from_spec(spec)
        cast("Loader", spec.loader).exec_module(module)
    run, method, arguments = pickle.loads(task)  # noqa: S301 (of `CellRun`)
    return getattr(run, method)(*arguments)


@functools.cache
def _load(family: str, dataset: str) -> Any:
    from format_bench.results.suites import FAMILIES

    return operations_of(FAMILIES[family]).load(DATA / dataset)


@functools.cache
def _process_start() -> float:
    """Return the time of the first call in this process, by the monotonic clock."""
    return time.monotonic()
