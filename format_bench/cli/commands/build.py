"""Build of the parts that are not in Python."""

from __future__ import annotations

import click

import record_stores
from format_bench.network import object_server as server

JVM, OBJECT_SERVER = "jvm", "object-server"


@click.command
@click.argument("part", type=click.Choice([JVM, OBJECT_SERVER]), default=JVM)
@click.option(
    "--optional",
    is_flag=True,
    help="Exit with status 0 if build tools are missing; a failed build is still an error.",
)
@click.pass_obj
def command(obj: dict[str, bool], part: str, optional: bool) -> None:  # noqa: FBT001 (a switch)
    """Build the JVM record formats, or the object server.

    The object server is for the suites `remote` and `remote_arrays`.

    With object-server, Go downloads and builds versitygw: about two minutes on one core. The program,
    84 MB, is kept in ~/.cache/formatbench.

    Otherwise Maven downloads the JVM libraries, about 200 MB, and builds record_stores/jvm, once for
    each version of the module and of Java. The jars are kept in ~/.cache/formatbench.

    Java is taken from FORMAT_BENCH_JAVA, JAVA_HOME or PATH.
    """
    if part == OBJECT_SERVER:
        lacking = server.toolchain()
        if optional and not lacking and not server.availability():
            click.echo(f"the object server is unavailable: {lacking.reason}", err=True)
            return
        program = server.build()
        if not obj["quiet"]:
            click.echo(program)
        return
    module = record_stores.jvm
    lacking = module.availability() or module.toolchain()
    if optional and not lacking:
        click.echo(f"the record formats of the JVM are unavailable: {lacking.reason}", err=True)
        return
    folder = module.build()
    if not obj["quiet"]:
        click.echo(folder)
