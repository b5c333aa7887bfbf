"""Build of the parts that are not in Python."""

from __future__ import annotations

import click

import record_stores
from adapter_core import FormatBenchError
from adapter_core import environments as own_environments
from format_bench.compatibility import foreign
from format_bench.library_sets import environments
from format_bench.network import object_server as server

JVM, OBJECT_SERVER, ENVIRONMENT = "jvm", "object-server", "environment"


@click.command
@click.argument(
    "part", type=click.Choice([JVM, OBJECT_SERVER, ENVIRONMENT, *foreign.names()]), default=JVM
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

    The object server is for the suites `remote` and `remote_arrays`, readers are for `study
    compatibility`.

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
    if names and part != ENVIRONMENT:
        raise click.UsageError(f"{part} takes no names")
    if part == ENVIRONMENT:
        _build_environments(names, optional=optional, quiet=obj["quiet"])
        return
    if part == OBJECT_SERVER:
        lacking = server.toolchain()
        if optional and not lacking and not server.availability():
            click.echo(f"the object server is unavailable: {lacking.reason}", err=True)
            return
        program = server.build()
        if not obj["quiet"]:
            click.echo(program)
        return
    if part != JVM:
        _build_reader(foreign.find(part), optional=optional, quiet=obj["quiet"])
        return
    module = record_stores.jvm
    lacking = module.availability() or module.toolchain()
    if optional and not lacking:
        click.echo(f"the record formats of the JVM are unavailable: {lacking.reason}", err=True)
        return
    folder = module.build()
    if not obj["quiet"]:
        click.echo(folder)


def _build_reader(reader: foreign.ForeignReader, *, optional: bool, quiet: bool) -> None:
    lacking = reader.toolchain()
    if optional and not lacking:
        click.echo(f"the reader {reader.name} is unavailable: {lacking.reason}", err=True)
        return
    folder = reader.build()
    if not quiet:
        click.echo(folder)


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
