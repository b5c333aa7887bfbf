"""Build of the parts that are not in Python."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import click

import record_stores
from adapter_core import Availability, FormatBenchError
from adapter_core import environments as own_environments
from adapter_core.errors import UnknownNameError
from format_bench.compatibility import foreign
from format_bench.library_sets import environments
from format_bench.network import object_server as server
from format_bench.results.suites import SUITES, parts_of

JVM, OBJECT_SERVER, ENVIRONMENT, SUITES_PARTS = "jvm", "object-server", "environment", "suites"


class Part(Protocol):
    """A part that is not in Python, and is built once."""

    def toolchain(self) -> Availability:
        """Return whether it can be built here."""
        ...

    def availability(self) -> Availability:
        """Return whether it is built."""
        ...

    def build(self) -> Path:
        """Build it unless it is built, and return its place."""
        ...


@click.command
@click.argument(
    "part",
    type=click.Choice([JVM, OBJECT_SERVER, ENVIRONMENT, SUITES_PARTS, *foreign.names()]),
    default=JVM,
)
@click.argument("names", nargs=-1)
@click.option(
    "--optional",
    is_flag=True,
    help="Exit with status 0 if build tools are missing; a failed build is still an error.",
)
@click.pass_obj
def command(
    obj: dict[str, bool],
    part: str,
    names: tuple[str, ...],
    optional: bool,  # noqa: FBT001 (a switch)
) -> None:
    """Build JVM stores, the object server, readers or environments.

    The object server is for the suites `remote`, `remote_arrays` and `scale`, readers are for `study
    compatibility`. With suites, the parts that the suites of these NAMES need are built, by default
    of all.

    With object-server, Go downloads and builds versitygw: about two minutes on one core. The program,
    84 MB, is kept in ~/.cache/formatbench.

    A reader is built in ~/.cache/formatbench, by the commands that its folder in foreign_readers
    declares.

    With environment, uv installs the libraries of formats that do not install beside the others, each
    set in an environment of its own in ~/.cache/formatbench: the NAMES that format-bench list shows, by
    default all.

    Otherwise Maven downloads the JVM libraries, about 200 MB, and builds record_stores/jvm, once for
    each version of the module and of Java. The jars are kept in ~/.cache/formatbench.

    Java is taken from FORMAT_BENCH_JAVA, JAVA_HOME or PATH.
    """
    if part == ENVIRONMENT:
        _build_environments(names, optional=optional, quiet=obj["quiet"])
        return
    if names and part != SUITES_PARTS:
        raise click.UsageError(f"{part} takes no names")
    for name in names:
        if name not in SUITES:
            raise UnknownNameError("suite", name, SUITES)
    for each in parts_of(names or SUITES) if part == SUITES_PARTS else [part]:
        _build(each, optional=optional, quiet=obj["quiet"])


def _build(name: str, *, optional: bool, quiet: bool) -> None:
    part: Part
    if name == JVM:
        words, part = "the record formats of the JVM are", record_stores.jvm
    elif name == OBJECT_SERVER:
        words, part = "the object server is", server
    else:
        words, part = f"the reader {name} is", foreign.find(name)
    lacking = part.availability() or part.toolchain()
    if optional and not lacking:
        click.echo(f"{words} unavailable: {lacking.reason}", err=True)
        return
    place = part.build()
    if not quiet:
        click.echo(place)


def _build_environments(names: tuple[str, ...], *, optional: bool, quiet: bool) -> None:
    """Build environments, all others if one fails; then raise the first error."""
    failed: list[FormatBenchError] = []
    for name in names or own_environments.names():
        try:
            place = environments.build(name)
        except FormatBenchError as error:
            failed.append(error)
            continue
        if not quiet:
            click.echo(place)
    for each in failed[0 if optional else 1 :]:
        click.echo(str(each), err=True)
    if failed and not optional:
        raise failed[0]
