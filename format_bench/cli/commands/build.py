"""Build of the parts that are not in Python."""

from __future__ import annotations

import click

import record_stores


@click.command
@click.option(
    "--optional",
    is_flag=True,
    help="Succeed, with the reason, if there is no JDK or no Maven. A build that fails is an error.",
)
@click.pass_obj
def command(obj: dict[str, bool], optional: bool) -> None:  # noqa: FBT001 (a switch)
    """Build the record formats of the JVM.

    Maven fetches their libraries, about 200 MB, and builds the module record_stores/jvm once for each
    version of it and of Java. The jars are kept in ~/.cache/formatbench.

    Java is that of FORMAT_BENCH_JAVA, JAVA_HOME or PATH.
    """
    module = record_stores.jvm
    lacking = module.availability() or module.toolchain()
    if optional and not lacking:
        click.echo(f"the record formats of the JVM are unavailable: {lacking.reason}", err=True)
        return
    folder = module.build()
    if not obj["quiet"]:
        click.echo(folder)
