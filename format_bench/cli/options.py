"""Options that several commands have: types, sources of results, limits of reading own data, output."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from adapter_core import UnavailableError
from data_generator.confinement.limits import (
    DISK_SHARE,
    MEMORY_SHARE,
    USUAL_LIMITS,
    USUAL_SECONDS,
    DataLimits,
)
from format_bench.asv_support.results import is_results_dir, load_run
from format_bench.cli.help import Section
from format_bench.conditions import axes
from format_bench.families.operations import operations_of, registry_of
from format_bench.results import shipped
from format_bench.results.display.terminal import Output
from format_bench.results.display.text import seconds_of, size_of
from format_bench.results.load import Results, load
from format_bench.results.metrics import METRICS
from format_bench.results.suites import FAMILIES, SUITES
from format_bench.runner.plan import ALL, NO_CODEC, OWN_DEFAULT


def load_source(source: str | Path) -> Results:
    """Return the results that an argument names.

    Parameters
    ----------
    source : str or Path
        As `format_bench.results.load.load` takes it; or a folder of asv's results, for its newest run;
        or such a folder, "#" and the name of a machine, for the newest run on that machine.

    Raises
    ------
    InvalidResultsError, ResultsNotFoundError
        If results are missing.
    UnknownNameError
        If the machine has no results.
    """
    if is_results_dir(Path(source)):
        return load_run(Path(source))
    folder, mark, machine = str(source).rpartition("#")
    if mark and is_results_dir(Path(folder)):
        return load_run(Path(folder), machine)
    return load(source)


Command = TypeVar("Command", bound=Callable[..., Any])


class Duration(click.ParamType[float]):
    """Takes a duration; gives seconds."""

    name = "duration"

    def convert(
        self, value: str | float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return seconds."""
        if isinstance(value, float):
            return value
        seconds = seconds_of(value)
        if math.isnan(seconds):
            self.fail(f"{value!r} is not a duration; write e.g. 90s, 10m or 1h30m", param, ctx)
        if not seconds:
            self.fail("a duration must be above 0", param, ctx)
        return seconds


class Names(click.ParamType[tuple[str, ...]]):
    """Takes names, separated by commas.

    Parameters
    ----------
    known : callable, optional
        Returns the names that a shell completes.
    """

    name = "names"

    def __init__(self, known: Callable[[], Iterable[str]] = tuple) -> None:
        self.known = known

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002 (click's signature)
        param: click.Parameter,  # noqa: ARG002 (click's signature)
        incomplete: str,
    ) -> list[CompletionItem]:
        """Return completions of the last name."""
        earlier, comma, last = incomplete.rpartition(",")
        return completions(self.known(), last, earlier + comma)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """Return the names."""
        if isinstance(value, tuple):
            return value
        names = tuple(name.strip() for name in value.split(",") if name.strip())
        if not names:
            self.fail("no name is given", param, ctx)
        return names


class Name(click.ParamType[str]):
    """Takes a text that starts with a name.

    Parameters
    ----------
    known : callable
        Returns the names that a shell completes.
    end : str, optional
        What follows a name.
    """

    name = "name"

    def __init__(self, known: Callable[[], Iterable[str]], end: str = "") -> None:
        self.known, self.end = known, end

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002 (click's signature)
        param: click.Parameter,  # noqa: ARG002 (click's signature)
        incomplete: str,
    ) -> list[CompletionItem]:
        """Return completions of the name."""
        return completions((name + self.end for name in self.known()), incomplete)


def completions(names: Iterable[str], incomplete: str, before: str = "") -> list[CompletionItem]:
    """Return the names that start with a text, in any case, each behind `before`."""
    start = incomplete.lower()
    return [CompletionItem(before + name) for name in names if name.lower().startswith(start)]


def format_names() -> list[str]:
    """Return the labels of all formats and stores."""
    return [name for family in FAMILIES.values() for name in registry_of(family).names()]


def known_readers() -> list[str]:
    """Return the readers whose features are known."""
    return list(dict.fromkeys(each.reader for each in shipped.feature_readings()))


def dataset_names() -> list[str]:
    """Return the names of all generated data sets."""
    return [name for family in FAMILIES.values() for name in operations_of(family).datasets()]


def metric_names() -> list[str]:
    """Return the names of all metrics, as options take them."""
    return [name.replace(" ", "_") for name in METRICS]


def codec_names() -> list[str]:
    """Return the choices of codecs that no adapter declares, and the names of all codecs."""
    found = dict.fromkeys([NO_CODEC, OWN_DEFAULT, ALL])
    for family in FAMILIES.values():
        registry = registry_of(family)
        for label in registry.names() if family.takes_codecs else ():
            with contextlib.suppress(UnavailableError):  # of a package that fails to load
                found |= dict.fromkeys(each.name for each in registry.find(label).codecs)
    return list(found)


def condition_names() -> list[str]:
    """Return the names of the axes of conditions, as options take them."""
    return [axis.option.removeprefix("--") for axis in axes().values()]


def step_names() -> list[str]:
    """Return the names of the steps of all families."""
    return [*dict.fromkeys(step.name for family in FAMILIES.values() for step in family.steps)]


def track_names() -> list[str]:
    """Return the names of the tracks of all suites."""
    return [*dict.fromkeys(track.name for suite in SUITES.values() for track in suite.tracks)]


class Shape(click.ParamType[tuple[int, ...]]):
    """Takes the edges of a chunk, separated by commas."""

    name = "shape"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        """Return the edges."""
        if isinstance(value, tuple):
            return value
        edges = [edge.strip() for edge in value.split(",")]
        if not all(edge.isdecimal() and int(edge) for edge in edges):
            self.fail(f"{value!r} is not a chunk shape; write e.g. 1,560,1440", param, ctx)
        return tuple(map(int, edges))


class Size(click.ParamType[int]):
    """Takes a size such as 4G; gives bytes."""

    name = "size"

    def convert(self, value: str | int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return bytes."""
        if isinstance(value, int):
            return value
        size_bytes = size_of(value)
        if size_bytes is None:
            self.fail(f"{value!r} is not a size; write e.g. 512M or 4G", param, ctx)
        return size_bytes


_DATA_LIMITS = (
    Section.DATA.option(
        "--data-memory",
        type=Size(),
        help=f"Memory limit of reading your data, e.g. 4G. [default: {MEMORY_SHARE:.0%} of free memory]",
    ),
    Section.DATA.option(
        "--data-disk",
        type=Size(),
        help=f"Disk limit of reading your data, e.g. 20G. [default: {DISK_SHARE:.0%} of free space]",
    ),
    Section.DATA.option(
        "--data-seconds",
        type=click.FloatRange(0, min_open=True),
        help=f"Time limit of reading your data, in seconds. [default: {USUAL_SECONDS:.0f}]",
    ),
    Section.DATA.option(
        "--parse-dates",
        type=click.Choice(["yes", "no"]),
        help="Read ISO 8601 dates and times in CSV as datetimes. [default: yes]",
    ),
)


def with_data_limits(command: Command) -> Command:
    """Add the options to a command."""
    for option in reversed(_DATA_LIMITS):
        command = option(command)
    return command


def is_of_records(suite: str | None) -> bool:
    """Return whether a suite reads a user's file as records."""
    return suite in SUITES and SUITES[suite].family == "records"


def taken_schema(schema: Path | None, data: str | None, suite: str | None) -> str | None:
    """Return the absolute path of the file of --schema.

    Raises
    ------
    click.UsageError
        If it is given, but no records are read.
    """
    if schema is None:
        return None
    if data is None or not is_of_records(suite):
        raise click.UsageError("--schema needs --data and --suite records")
    return str(schema.absolute())


schema_option = Section.DATA.option(
    "--schema",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="With --suite records: their type, as .avsc, .json, .proto or .py. [default: by their values]",
)


def taken_limits(options: dict[str, Any], data: str | None) -> DataLimits:
    """Take the values of the options out of others.

    Raises
    ------
    click.UsageError
        If one is given, but no data.
    """
    memory, disk = options.pop("data_memory"), options.pop("data_disk")
    found = DataLimits(options.pop("data_seconds") or USUAL_SECONDS, memory, disk)
    if data is None and found != USUAL_LIMITS:
        raise click.UsageError("--data-memory, --data-disk and --data-seconds need --data")
    return found


def taken_parse_dates(options: dict[str, Any], data: str | None) -> bool:
    """Take the value of --parse-dates out of other options.

    Raises
    ------
    click.UsageError
        If it is given, but no data.
    """
    given = options.pop("parse_dates")
    if data is None and given is not None:
        raise click.UsageError("--parse-dates needs --data")
    return bool(given != "no")


def with_conditions(command: Command) -> Command:
    """Add an option for each axis, which takes values to measure under, separated by commas."""
    for axis in reversed(axes().values()):
        section = Section.WHERE if axis.is_place else Section.HOW
        values = Names(axis.values)
        add = section.option(axis.option, type=values, default=(), help=axis.help, metavar="VALUES")
        command = add(command)
    return command


def taken_conditions(options: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """Take the values of the axes out of the options, by name of the axis."""
    names = {name: name.replace(" ", "_") for name in axes()}
    found = {name: options.pop(option) for name, option in names.items()}
    return {name: values for name, values in found.items() if values}


def measuring_console(*, quiet: bool) -> Output:
    """Return where all that passes is shown: results alone go to the standard output."""
    return Output(stderr=True, quiet=quiet)
