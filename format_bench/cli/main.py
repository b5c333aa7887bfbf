"""The command `format-bench`: its commands are found in their folder, and errors are one line.

Exit statuses: 0 done, 1 a defect of this program, 2 the input or the machine does not allow it, 3 a
version got worse (`against`), 128 and the number of a signal that ended it: 130 SIGINT, 143 SIGTERM,
129 SIGHUP, 141 SIGPIPE.
"""

from __future__ import annotations

import logging
import os
import select
import signal
import sys
import time
from pathlib import Path

import click

from adapter_core import FormatBenchError
from adapter_core.text import printable, visible
from format_bench.cli import commands
from format_bench.cli.command_folder import CommandFolder
from format_bench.system.signals import EndingSignals, end_children

# Added to the number of a signal, as shells have it.
_ENDED_BY_SIGNAL = 128


@click.command(
    cls=CommandFolder,
    folder=commands,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="formatbench")
@click.option("-q", "--quiet", is_flag=True, help="Print results only: no progress, no remarks.")
@click.option("-v", "--verbose", is_flag=True, help="Log each step, and print tracebacks.")
@click.pass_context
def format_bench(ctx: click.Context, quiet: bool, verbose: bool) -> None:  # noqa: FBT001 (switches)
    """Measure file formats and stores for your data, and compare them.

    \b
    Examples:
      format-bench recommend --data my.csv
      format-bench run --data my.parquet
      format-bench recommend reports/run --preset archive
      format-bench report reports/run

    \b
    Completion, in ~/.bashrc (zsh_source and fish_source likewise):
      eval "$(_FORMAT_BENCH_COMPLETE=bash_source format-bench)"

    \b
    Exit status:
      0         done
      2         bad input, or not possible on this machine; stderr has the reason, in one line
      3         against --fail-on-change: a cell got worse beyond noise
      130       interrupted
      129, 143  ended by SIGHUP or SIGTERM
      141       the output was closed early, as by head
      1         a bug in format-bench
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    if quiet and verbose:
        raise click.UsageError("--quiet and --verbose cannot be combined")
    level = logging.ERROR if quiet else logging.DEBUG if verbose else logging.INFO
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Visible("%(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.getLogger("format_bench").setLevel(level)
    spent = _seconds_so_far() if ctx.obj else 0.0
    ctx.obj = {"quiet": quiet, "verbose": verbose, "spent_seconds": spent}


def _seconds_so_far() -> float:
    """Return the seconds since this process started, imports included; 0 where the system hides it."""
    try:
        fields = Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        ticks = int(fields[19])  # field 22, as in proc(5); the first two are before the bracket
        return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, LookupError, AttributeError):
        return 0.0


class _Visible(logging.Formatter):
    """Lines whose text of users and libraries cannot command the terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


def main(args: list[str] | None = None) -> None:
    """Run the command that the arguments name, and exit with its status."""
    with EndingSignals() as signals:
        try:
            _run(args, signals)
        except SystemExit as end:
            if _is_cut(end.code):
                end_children()
                # What is buffered has no reader; Python would complain about that when it ends.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno())  # type: ignore[union-attr]
                sys.exit(_ENDED_BY_SIGNAL + signal.SIGPIPE)
            raise


def _is_cut(status: object) -> bool:
    """Return whether the reader of the output went before its end, as `head` does.

    Python ignores SIGPIPE, whose default would end a run whose connection to a server breaks. click ends
    with status 1 at the error that comes instead, of whatever pipe.
    """
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return True
    except ValueError:
        return False  # closed
    return status == 1 and _has_no_reader()


def _has_no_reader() -> bool:
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError, AttributeError):
        return False  # replaced by an object without one
    poll = select.poll()
    poll.register(descriptor, 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


def _run(args: list[str] | None, signals: EndingSignals) -> None:
    verbose = {"-v", "--verbose"} & set(sys.argv[1:] if args is None else args)
    try:
        # A time budget counts from the start of a program of its own.
        is_own = args is None
        name = "format-bench"
        sys.exit(format_bench.main(args=args, prog_name=name, standalone_mode=False, obj=is_own))
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(error.exit_code)
    except click.ClickException as error:
        click.echo(f"format-bench: {printable(error.format_message())}{_where_help_is(error)}", err=True)
        sys.exit(error.exit_code)
    except (FormatBenchError, OSError) as error:
        if verbose:
            raise
        click.echo(f"format-bench: {printable(_told(error))}", err=True)
        for each in getattr(error, "__notes__", []):
            click.echo(f"format-bench: {printable(each)}", err=True)
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        end_children()
        number = signals.last or signal.SIGINT
        said = "interrupted" if number == signal.SIGINT else f"ended by {number.name}"
        click.echo(f"format-bench: {said}", err=True)
        sys.exit(_ENDED_BY_SIGNAL + number)


def _told(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def _where_help_is(error: click.ClickException) -> str:
    path = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else ""
    return f" (see {path} --help)" if path else ""
