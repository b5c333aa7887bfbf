"""Commands of declared studies: the page of results, of an instrument's rows, or of adapters."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from adapter_core.availability import import_failure, install_hint
from format_bench.report.writers import png
from format_bench.results.display.terminal import Output
from format_bench.results.display.text import seconds_of
from format_bench.results.load import Results
from format_bench.runner.shards import WHOLE, Shard
from format_bench.studies.declared.blocks import imported
from format_bench.studies.declared.rows import Instrument
from format_bench.studies.declared.study import Folder, Option, Study, read

# Characters of a line of help: click's usual page less its indentation.
_WIDTH = 76

_PAGE = click.Option(
    ["--page", "shown"],
    type=click.Path(path_type=Path),
    multiple=True,
    help="Print the page of results instead; several times to join them.",
)


def command_of(name: str) -> click.Command:
    """Return the command of a declared study."""
    study = read(name)
    if study.instrument:
        return _command_of_instrument(name, study)
    if not study.suite:
        return _command_of_adapters(name, study)
    if study.folder:
        return _command_of_folder(name, study, study.folder)

    @click.pass_obj
    def show(
        settings: dict[str, bool] | None,
        /,
        out: Path | None,
        results: Path | None = None,
        measure: bool = False,  # noqa: FBT001, FBT002 (a switch)
        shown: Path | None = None,
        **values: Any,
    ) -> None:
        bound = _bound(name, study, values)
        results = results or shown
        with TemporaryDirectory() as own:
            folder = results or Path(own)
            if measure or results is None:
                bound.measure(folder, Output(stderr=True, quiet=bool(settings and settings["quiet"])))
            page = bound.page(bound.results_at(folder))
        if out:
            page.write(out)
        else:
            click.echo(page.markdown(), nl=False)

    parameters: list[click.Parameter] = [
        click.Argument(["results"], type=click.Path(path_type=Path), required=not study.earlier),
        click.Option(
            ["--out"],
            type=click.Path(dir_okay=False, path_type=Path),
            help="File of the page, with its picture beside it; printed without one by default.",
        ),
    ]
    if of := study.argument:
        parameters[0] = of.parameter
    else:
        text = "Measure the study's cells first, into RESULTS; an interrupted run is resumed."
        parameters.append(click.Option(["--measure"], is_flag=True, help=text, hidden=not study.cells))
    if study.earlier:
        # As the command was before the study was a suite.
        old = click.Option(["--page", "shown"], type=click.Path(path_type=Path), hidden=True)
        parameters.append(old)
    parameters += [option.parameter(each) for each, option in study.options.items()]
    return click.Command(name, callback=show, params=parameters, help=_help(name, study))


def _bound(name: str, study: Study, values: dict[str, Any]) -> Study:
    """Return the declaration with the values of options, and names on the command line."""
    given = {each: "" if value is None else value for each, value in values.items()}
    if of := study.argument:
        given[of.name] = ",".join(given[of.name]) or of.default
    return read(name, **given)


def _command_of_folder(name: str, study: Study, folder: Folder) -> click.Command:
    """Return the command of a study whose cells are measured into a folder of results."""

    @click.pass_obj
    def show(
        settings: dict[str, bool] | None,
        /,
        out: Path | None,
        shown: tuple[Path, ...],
        **values: Any,
    ) -> None:
        bound = _bound(name, study, values)
        output = Output(stderr=True, quiet=bool(settings and settings["quiet"]))
        output.quiet |= not output.is_terminal  # what a plan leaves out is no news in a file
        with TemporaryDirectory() as own:
            results = bound.results_at(*shown) if shown else bound.measure(out or Path(own), output)
        page = bound.page(results)
        if not (folder.page and out) or shown:
            click.echo(page.markdown(), nl=False)
            return
        if reason := import_failure("matplotlib"):
            click.echo(f"{name}: no picture, since {reason}; try: {install_hint('report')}", err=True)
            page = replace(page, chart=None)
        page.write(out / folder.page)
        if page.chart:
            png.save(page.chart, (out / folder.page).with_suffix(".png"))
        click.echo((out / folder.page).read_text(encoding="utf-8"), nl=False)

    path = click.Path(path_type=Path)
    text = "Folder of the results; cells in them are not measured again."
    parameters: list[click.Parameter] = [
        *([study.argument.parameter] if study.argument else []),
        *(option.parameter(each) for each, option in study.options.items()),
        click.Option(["--out"], type=path, default=folder.default or None, show_default=True, help=text),
        _PAGE,
    ]
    return click.Command(name, callback=show, params=parameters, help=_help(name, study))


def _option(study: Study, parameter: str) -> Option:
    return study.options[parameter.replace("_", "-") if parameter not in study.options else parameter]


def _command_of_adapters(name: str, study: Study) -> click.Command:
    """Return the command of a page that needs no results."""

    def show() -> None:
        click.echo(study.page(Results("", [], [])).markdown(), nl=False)

    text = f"{study.summary}\n\n\b\nExample:\n  format-bench study {name} {study.details}".rstrip()
    return click.Command(name, callback=show, help=text)


def _command_of_instrument(name: str, study: Study) -> click.Command:
    """Return the command of a study that measures by itself: into a folder, or the page of one."""
    instrument: Instrument[Any] = imported(study.instrument)

    def show(
        out: Path | None,
        shown: tuple[Path, ...],
        shard: str | None,
        time_budget: float,
        summarized: Path | None = None,
        **values: Any,
    ) -> None:
        if summarized and instrument.facts:
            click.echo(instrument.facts(instrument.read(summarized)[0]), nl=False)
            return
        if not shown and out is None and instrument.needs_out:
            raise click.UsageError("give --out FOLDER to measure, or --page RESULTS for the page")
        of_page = {each: values.pop(each) for each in values.copy() if _option(study, each).of_page}
        if shown:
            rows, results = instrument.read(*shown)
        else:
            part = Shard.parse(shard) if shard else WHOLE
            rows, results = instrument.run(out, part, time_budget, **values)
        click.echo(read(name, **of_page).page(results, rows).markdown(), nl=False)

    path = click.Path(path_type=Path)
    parameters: list[click.Parameter] = [
        click.Option(
            ["--out"], type=path, help="Folder of the results; cells in it are not measured again."
        ),
        *(option.parameter(each) for each, option in study.options.items()),
        click.Option(
            ["--time-budget"],
            default="inf",
            metavar="DURATION",
            callback=_seconds,
            help="As in 10m: start no cell afterwards.",
        ),
        click.Option(["--shard"], metavar="I/N", help="Measure a part of the cells, as in 2/3."),
        _PAGE,
    ]
    if instrument.facts:
        text = "Print a summary as CSV instead."
        parameters.append(click.Option(["--facts", "summarized"], type=path, help=text))
    return click.Command(name, callback=show, params=parameters, help=_help(name, study))


def _seconds(context: click.Context, parameter: click.Parameter, value: str) -> float:
    """Return the seconds of a duration; infinity without one."""
    seconds = math.inf if value == parameter.default else seconds_of(value)
    if not seconds > 0:
        text = f"{value!r} is not a duration; write e.g. 90s, 10m or 1h30m"
        raise click.BadParameter(text, context, parameter)
    return seconds


def _help(name: str, study: Study) -> str:
    if study.examples:
        examples = "\n".join(f"  format-bench study {name} {each}".rstrip() for each in study.examples)
        return "\n\n".join([study.summary, study.details.strip(), f"\b\nExamples:\n{examples}"])
    parts = [
        study.summary,
        f"RESULTS is a folder or file of results of the suite `{study.suite}`. {study.details}",
    ]
    lines = ["\b", "Example:"]
    if study.cells:
        command = _broken("format-bench", "run", *study.measured_by(f"reports/{name}"))
        lines += [f"  {line}" for line in command]
    lines.append(f"  format-bench study {name} reports/{name} --out docs/{name}.md")
    return "\n\n".join([*parts, "\n".join(lines)])


def _broken(*words: str) -> list[str]:
    """Return the lines of a command, each within the width of a page."""
    lines = [""]
    for word in words:
        if len(lines[-1]) + len(word) > _WIDTH:
            lines[-1] += " \\"
            lines.append("     ")
        lines[-1] = f"{lines[-1]} {word}" if lines[-1] else word
    return lines
