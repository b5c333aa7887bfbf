"""Reader of asv's results: the newest run of a folder as cells and records, empty ones with a reason."""

from __future__ import annotations

import functools
import itertools
import json
import math
from ast import literal_eval
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from adapter_core import UnavailableError, UnsupportedError
from adapter_core.adapter import engine_of
from adapter_core.errors import (
    FormatBenchError,
    InvalidResultsError,
    ResultsNotFoundError,
    UnknownNameError,
)
from adapter_core.files import OF_CONTENT
from format_bench.asv_support.journal import Journal, Reason
from format_bench.asv_support.rounds import Rounds, RoundsFile
from format_bench.asv_support.run import AsvMetadataFile
from format_bench.families.cases import codec_of, codec_on, level_of
from format_bench.families.operations import registry_of
from format_bench.instruments.intervals import median_interval
from format_bench.results.candidates import OWN_DEFAULT
from format_bench.results.conditions import Conditions
from format_bench.results.load import Results
from format_bench.results.metrics import BY_BENCHMARK
from format_bench.results.records import Record
from format_bench.results.status import WRONG, CellStatus
from format_bench.results.suites import FAMILIES, SUITES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


UNEXPLAINED = "asv has no value, and no process of this cell left a reason"

# asv has NaN for it, as for a skipped cell, which leaves a reason.
NOT_SELECTED = "not measured: no run of asv has selected it so far"


@dataclass(frozen=True)
class AsvCell:
    """One value, or the reason why there is none."""

    benchmark: str
    """asv's name, as in "tabular.Tabular.time_save"."""
    metric: str
    """Metric, e.g. "save time"."""
    unit: str
    """"seconds", "bytes" or "columns"."""
    format: str
    dataset: str
    value: float | None
    """Median of the samples, or None."""
    status: str
    """"value", "unsupported", "unavailable", "failed" or "timed out"."""
    sentence: str
    """Reason why the value is missing, or a remark on it."""
    axes: dict[str, str] = field(default_factory=dict)
    """The parameters beside format and data set, by name, as in {"cache": "cold"}."""
    samples: list[float] = field(default_factory=list)
    """All samples in the order taken, if they were recorded."""
    round_sizes: list[int] = field(default_factory=list)
    """How many of the samples each process took, if that is known."""
    track: str = ""
    """The track of a class of benchmarks that declares one; empty if it is a parameter, or none."""
    settings: str = ""
    """The settings of a class of benchmarks that declares them; empty for the usual ones."""
    cpu_samples: list[float] = field(default_factory=list)
    """CPU seconds of each sample, if they were recorded."""
    loop_samples: list[float] = field(default_factory=list)
    """CPU seconds of the clock's reference loop beside each sample."""


@dataclass(frozen=True)
class Run:
    """All results of one commit in one environment on one machine."""

    machine: str
    cpu: str
    """Model of the machine's CPU, as asv has it."""
    environment: str
    commit: str
    cells: list[AsvCell]
    sampled_seconds: float
    """Sum of all samples of the `time_` benchmarks, of durable saves without the plain ones in them."""
    measured_seconds: float
    """Wall time on the clock: these samples, first calls that do not count, openings and random reads,
    which have values per item, and the waits of durable saves. Where the processes have noted none, as
    in earlier versions or where others hold the clock, the samples alone."""
    spent_seconds: float
    """asv's durations of all benchmarks and of `setup_cache`."""

    @property
    def measured_share(self) -> float:
        """Share of the duration that is measured time, from 0 to 1."""
        return self.measured_seconds / self.spent_seconds if self.spent_seconds else 0.0


@contextmanager
def damage_reported(results_dir: Path) -> Iterator[None]:
    """Raise `InvalidResultsError` in place of everything that damaged files of asv's results cause.

    asv reads them without a check of their form, so their damage shows anywhere.
    """
    from asv.util import UserError

    try:
        yield
    except FormatBenchError:
        raise
    except (*OF_CONTENT, SyntaxError, UserError) as error:
        damaged = next(filter(_is_damaged, sorted(results_dir.rglob("*.json*"))), None)
        place = f"{damaged} is" if damaged else f"a file in {results_dir}, or beside it, is"
        advice = "restore it from the branch of results, or remove it"
        raise InvalidResultsError(
            f"{place} damaged ({type(error).__name__}: {error}); {advice}"
        ) from error


def _is_damaged(path: Path) -> bool:
    """Return whether a file is not JSON, or one of JSON lines has a line that is not."""
    try:
        content = path.read_bytes()
        for each in content.splitlines() if path.suffix == ".jsonl" else [content]:
            json.loads(each)
    except (ValueError, RecursionError):
        return True
    return False


def newest_run(results_dir: Path, machine: str | None = None) -> Run:
    """Return the run that started last.

    Parameters
    ----------
    results_dir : Path
        The folder of asv's results.
    machine : str, optional
        Name of the machine, as asv has it; any machine by default.

    Raises
    ------
    ResultsNotFoundError
        If the folder lacks results.
    UnknownNameError
        If the machine has no results; the message names those that have.
    InvalidResultsError
        If a file is damaged.
    """
    with damage_reported(results_dir):
        return _newest_run(results_dir, machine)


def _newest_run(results_dir: Path, machine: str | None) -> Run:
    from asv.results import iter_results

    path = results_dir / "benchmarks.json"
    results = [each for each in iter_results(str(results_dir)) if each.started_at]
    if not path.is_file() or not results:
        raise ResultsNotFoundError(f"{results_dir} contains no results of asv; `asv run` makes them")
    machines = {each.params["machine"] for each in results}
    if machine is not None and machine not in machines:
        raise UnknownNameError(f"machine in {results_dir}", machine, machines)
    results = [each for each in results if machine in (None, each.params["machine"])]
    newest = max(results, key=lambda each: max(each.started_at.values()))
    benchmarks = json.loads(path.read_text(encoding="utf-8"))
    benchmarks.pop("version")
    return run_of(newest, benchmarks, results_dir)


def run_of(result: Any, benchmarks: dict[str, Any], results_dir: Path) -> Run:
    """Return one of asv's results, all its cells with values or sentences.

    Parameters
    ----------
    result : asv.results.Results
        Of one commit in one environment.
    benchmarks : dict
        asv's facts on each benchmark, by name.
    results_dir : Path
        Where asv's results are, and the reasons beside them.
    """
    names = sorted(result.get_result_keys(benchmarks), key=_place_in_tables)
    journal = Journal(results_dir / "reasons", result._env_name)  # noqa: SLF001 (asv offers no other way)
    reasons = [each for each in journal.read() if each.commit in ("", result.commit_hash)]
    rounds = RoundsFile(results_dir, journal.path.stem, result.commit_hash).read()
    sampled = _sampled_seconds(result, names)
    return Run(
        machine=result.params["machine"],
        cpu=result.params.get("cpu", ""),
        environment=journal.path.stem,
        commit=result.commit_hash,
        cells=_without_wrong(
            _of_measured_datasets(
                [cell for name in names for cell in _cells(result, benchmarks[name], reasons, rounds)]
            )
        ),
        sampled_seconds=sum(sampled.values()),
        measured_seconds=sum(
            max(seconds, rounds.seconds_on_clock(module)) for module, seconds in sampled.items()
        ),
        spent_seconds=sum(
            seconds
            for step, seconds in result.duration.items()
            if step in names or step.startswith("<setup_cache")
        ),
    )


def load_run(results_dir: Path, machine: str | None = None) -> Results:
    """Return the newest run of asv, as other results are loaded.

    Parameters
    ----------
    results_dir, machine
        As `newest_run` takes them.

    Raises
    ------
    ResultsNotFoundError, UnknownNameError, InvalidResultsError
        As `newest_run` does.
    """
    run = newest_run(results_dir, machine)
    with damage_reported(results_dir):
        metadata = AsvMetadataFile(results_dir, run.environment).newest(run.commit, run.cpu)
        records = records_of(run, metadata)
    source = f"{results_dir}#{run.machine}"
    return Results(run.machine, records, [metadata] if metadata else [], source=source)


def is_results_dir(path: Path) -> bool:
    """Return whether a folder has results of asv."""
    return (path / "benchmarks.json").is_file()


def _place_in_tables(name: str) -> tuple[int, str]:
    """Return a sort key: times first, in order of name, then sizes, then memory."""
    kind = name.rpartition(".")[2].partition("_")[0]
    return ("time", "track", "peakmem").index(kind), name


def _cells(
    result: Any, benchmark: dict[str, Any], reasons: list[Reason], rounds: Rounds
) -> list[AsvCell]:
    """Return the cells of one benchmark, in the order of its parameters."""
    name = benchmark["name"]
    suite = name.rpartition(".")[0]
    own_track, settings = _own_way(suite)
    axes = result.get_result_params(name)
    values = result.get_result_value(name, axes)
    samples = result.get_result_samples(name, axes)
    cells = []
    for combination, value, taken in zip(itertools.product(*axes), values, samples, strict=True):
        params = [_literal(text) for text in combination]
        label, dataset, *others = params
        named_metric = (benchmark["pretty_name"].partition(": ")[2], own_track, *others)
        metric = ", ".join(filter(None, named_metric))
        facts = (name, metric, benchmark["unit"], label, dataset)
        named = dict(zip(benchmark["param_names"][2:], others, strict=True))
        said = [each for each in reasons if each.suite == suite and each.params == params]
        if value is None or math.isnan(value):
            # Of a format that a monthly run has left out there is one reason for all cells.
            why = _why(said or [each for each in reasons if each.names_all_of(suite, label)])
            if why == (CellStatus.FAILED, UNEXPLAINED) and value is not None:
                why = (CellStatus.UNAVAILABLE.value, NOT_SELECTED)
            cells.append(AsvCell(*facts, None, *why, named, track=own_track, settings=settings))
        else:
            remarks = [each.sentence for each in said if each.status is CellStatus.VALUE]
            declared = BY_BENCHMARK[name.rpartition(".")[2]]
            remark = remarks[-1] if remarks and declared.remarked else ""
            own = rounds.of_cell(suite, params, declared.name, value, taken)
            joined = [sample for each in own for sample in each.repeats]
            cpu, loop = _beside([each.cpu for each in own]), _beside([each.loop for each in own])
            facts_of_value = list(taken or joined or [value]), [len(each.repeats) for each in own]
            way = own_track, settings
            found = AsvCell(*facts, value, "value", remark, named, *facts_of_value, *way)
            cells.append(replace(found, cpu_samples=cpu, loop_samples=loop))
    return cells


def _beside(rounds: Sequence[Sequence[float]]) -> list[float]:
    """Return the times beside the samples of all rounds; none where some rounds have none."""
    return [seconds for each in rounds for seconds in each] if all(rounds) else []


def _own_way(suite: str) -> tuple[str, str]:
    """Return track and settings of a class of benchmarks that declares them."""
    module, _, name = suite.partition(".")
    benchmark = SUITES[module].benchmark(name) if module in SUITES else None
    return (benchmark.track, benchmark.settings) if benchmark else ("", "")


@functools.cache
def _literal(text: str) -> Any:
    """Return a parameter of the text that asv keeps; a run has few of them in thousands of cells."""
    return literal_eval(text)


def _why(said: list[Reason]) -> tuple[str, str]:
    """Return status and sentence of an empty cell: the newest reason of its suite."""
    reasons = [each for each in said if each.status is not CellStatus.VALUE]
    return (reasons[-1].status.value, reasons[-1].sentence) if reasons else ("failed", UNEXPLAINED)


def _of_measured_datasets(cells: list[AsvCell]) -> list[AsvCell]:
    """Return the cells without data sets of which no run has selected any cell so far."""
    begun = {_place(cell) for cell in cells if cell.sentence != NOT_SELECTED}
    return [cell for cell in cells if _place(cell) in begun]


def _place(cell: AsvCell) -> tuple[str, str]:
    return cell.benchmark.partition(".")[0], cell.dataset


def _without_wrong(cells: list[AsvCell]) -> list[AsvCell]:
    """Turn all values of a (suite, format, dataset) that came back wrong into failures.

    How fast wrong data are saved or read is of no interest.
    """
    wrong = {
        _what(cell): cell.sentence
        for cell in cells
        if cell.value is None and cell.sentence.startswith(WRONG)
    }
    return [
        replace(
            cell,
            value=None,
            samples=[],
            round_sizes=[],
            cpu_samples=[],
            loop_samples=[],
            status="failed",
            sentence=wrong[_what(cell)],
        )
        if _what(cell) in wrong
        else cell
        for cell in cells
    ]


def _what(cell: AsvCell) -> tuple[str, str, str]:
    return cell.benchmark.partition(".")[0], cell.format, cell.dataset


def _timed_once(names: list[str]) -> list[str]:
    """Return the benchmarks of times, without plain saves that are the first part of durable ones."""
    durable = {name.replace("durable_save", "save") for name in names if "durable_save" in name}
    return [name for name in names if "time_" in name and name not in durable]


def _sampled_seconds(result: Any, names: list[str]) -> dict[str, float]:
    """Return the sum of all samples of times, by module of benchmarks."""
    found = dict.fromkeys((name.partition(".")[0] for name in names), 0.0)
    for name in _timed_once(names):
        found[name.partition(".")[0]] += _seconds_of(result, name)
    return found


def _seconds_of(result: Any, name: str) -> float:
    params = result.get_result_params(name)
    values = result.get_result_value(name, params)
    stats = result.get_result_stats(name, params)
    return sum(
        value * stat["repeat"] * stat["number"]
        for value, stat in zip(values, stats, strict=True)
        if value is not None and not math.isnan(value)
    )


def records_of(run: Run, metadata: dict[str, Any]) -> list[Record]:
    """Return a record for each cell.

    Parameters
    ----------
    run : Run
        One run of asv.
    metadata : dict
        The result of `AsvMetadataFile.newest`, with the shape of each data set.
    """
    return [_record(cell, run, metadata.get("shapes", {})) for cell in run.cells]


def _record(cell: AsvCell, run: Run, shapes: dict[str, list[int]]) -> Record:
    suite, _, method = cell.benchmark.rpartition(".")
    codec, level = _codec_of(cell)
    rows, columns = shapes.get(f"{suite.partition('.')[0]}.{cell.dataset}", (0, 0))
    interval = median_interval(cell.samples) if len(cell.samples) > 1 else None
    return Record(
        suite=suite,
        format=cell.format,
        engine=engine_of(cell.format),
        dataset=cell.dataset,
        rows=rows,
        columns=columns,
        codec=codec,
        level=level,
        conditions=_conditions(cell),
        query=cell.axes.get("query", ""),
        metric=BY_BENCHMARK[method].name,
        unit=cell.unit,
        value=cell.value,
        repeats=cell.samples,
        interval=[interval.low, interval.high] if interval else None,
        status=CellStatus(cell.status),
        sentence=cell.sentence,
        run_id=f"asv-{run.machine}-{run.environment}-{run.commit[:8]}",
        rounds=max(1, len(cell.round_sizes)),
        round_sizes=cell.round_sizes,
        cpu_repeats=cell.cpu_samples,
        loop_repeats=cell.loop_samples,
    )


def _conditions(cell: AsvCell) -> dict[str, str]:
    own = {"track": cell.track, "settings": cell.settings, **cell.axes}
    return dict(
        Conditions({"threads": "all", **{n: own.get(n) for n in ("cache", "settings", "track")}})
    )


def _codec_of(cell: AsvCell) -> tuple[str | None, int | None]:
    """Return codec and level of a cell: what its parameter, or its track, is for the adapter."""
    suite = SUITES.get(cell.benchmark.partition(".")[0])
    track = suite.tracks_by_name.get(cell.axes.get("track", cell.track)) if suite else None
    choice = cell.axes.get("codec", "none")
    # "own default" is a name, whatever codec that is.
    if suite and (track or choice not in {"none", OWN_DEFAULT}):
        try:
            adapter = registry_of(FAMILIES[suite.family]).find(cell.format)
            return codec_on(track, adapter) if track else codec_of(adapter, choice)
        except (UnavailableError, UnknownNameError, UnsupportedError):
            choice = "none" if track else choice
    return (None, None) if choice == "none" else level_of(choice)
