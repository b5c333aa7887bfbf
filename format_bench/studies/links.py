"""Study of links: remote reads of all formats at several round-trip times and bandwidths."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

import click

import data_formats
from adapter_core import Feature, InvalidSelectionError, UnknownNameError
from adapter_core.errors import InvalidResultsError
from format_bench.network.link_results import (
    DATASET,
    FITTED_MS,
    FORM,
    HELD_BACK_MS,
    QUESTIONS,
    SPARSE,
    LinkResult,
    held_back_errors,
    link_results,
    model_of,
)
from format_bench.network.places import NETWORK, Link
from format_bench.results import flat_csv
from format_bench.results.display.markdown import table_lines
from format_bench.results.display.text import joined
from format_bench.results.shipped import LinkCosts
from format_bench.results.study_rows import StudyFile, read

GOOD_ERROR = 0.15
"""Relative error up to which a prediction is good."""

SHOWN_MS = (0.0, 20.0, 100.0)
"""Round-trip times whose wall times are shown."""

_PROTOCOLS = {"http": "HTTP", "s3": "S3", "root": "XRootD"}

_LINKS = {
    NETWORK: """\
The link is real: two network namespaces, joined by a program that delays packets and limits their rate.
So handshakes, TCP's slow start and its windows take the time that they take between two machines.
""",
    "delays": """\
The link is that of a delaying server on loopback, which sleeps a round trip for each request and
another for each connection, and paces its writes. TCP's slow start is missing: times of large reads over
long links are too short, while requests and bytes are right.
""",
}

_HEAD = """\
# Reading over a link

What a format costs when its file is on a server: each reader makes requests, waits a round trip for
each that it cannot make in advance, and fetches bytes. Two questions are asked: *whole* is all 26
columns, and *sparse* is {sparse}, 2 of them, of {rows:,} rows of `kaons`, saved without
compression.

"""

_SERVERS = """
HTTP and S3 come from one range server, XRootD from its own server, all without encryption and
signatures. Each read has a port of its own, so that no connection and no cache is left from another. Its
libraries have been imported and used before. Each time is the least of up to {repeats} reads. Values
are compared with those of the local file.

"""

_MODEL = """
The right half of each table is a model of the wall time, fitted to the times at {fitted} ms:

    wall time = CPU + round trips * round-trip time + share * transfer

*Round trips* are those that the reader waits for one after the other. The transfer is bytes / bandwidth
and the round trips of TCP's slow start (`format_bench.network.link_model`). *Error* is that of its
predictions at {held} ms, which it has not seen, at both bandwidths: the mean of their sizes, and the
largest.

"""

_END = """
Made by `format-bench study links`. Formats without a remote reader read local files only: {without}.
"""


def page(results: Sequence[LinkResult]) -> str:
    """Return the page in Markdown."""
    kinds = dict.fromkeys(each.link for each in results)
    text = _HEAD.format(sparse=" and ".join(f"`{each}`" for each in SPARSE), rows=results[0].rows)
    text += "".join(_LINKS[kind] for kind in kinds)
    text += _SERVERS.format(repeats=max(each.repeats for each in results))
    text += _MODEL.format(fitted=_numbers(FITTED_MS), held=_numbers(HELD_BACK_MS)).lstrip("\n")
    text += _accuracy(results)
    for question in QUESTIONS:
        of_question = [each for each in results if each.question == question]
        mbits = sorted({each.mbit for each in of_question})
        for mbit in mbits:
            rows = [_row(group, mbit) for group in _groups(of_question)]
            header = [
                *("format", "protocol", "requests", "connections", "MB", "of the file"),
                *(f"{ms:.0f} ms" for ms in SHOWN_MS),
                *("CPU", "round trips", "share", "error", "largest"),
            ]
            text += f"## {question.capitalize()}, {mbit:,.0f} Mbit/s\n\n"
            text += "Wall times and CPU in seconds.\n\n"
            text += "\n".join(table_lines(header, rows, alignment="ll" + "r" * 12)) + "\n\n"
    return text + _failures(results) + _END.format(without=joined(_without(), most=None)).lstrip("\n")


def _groups(results: Sequence[LinkResult]) -> Iterator[list[LinkResult]]:
    for _, group in groupby(results, key=lambda each: (each.format, each.scheme)):
        yield list(group)


def _row(group: list[LinkResult], mbit: float) -> list[str]:
    """Return the row of a format at a bandwidth; its model is fitted to all bandwidths."""
    first = group[0]
    names = [first.format, _PROTOCOLS[first.scheme]]
    found = {each.round_trip_ms: each for each in group if each.mbit == mbit and not each.error}
    if not found:
        return [*names, *["-"] * 12]
    typical = found[min(found)]
    return [
        *names,
        str(typical.requests),
        str(typical.connections),
        f"{typical.sent_bytes / 1e6:.2f}",
        f"{typical.sent_bytes / typical.file_bytes:.1%}",
        *(f"{found[ms].seconds:.2f}" if ms in found else "-" for ms in SHOWN_MS),
        *_fitted(group),
    ]


def _fitted(group: list[LinkResult]) -> list[str]:
    if not _is_complete(group):
        return ["-"] * 5
    model = model_of(group)
    errors = [abs(each) for each in held_back_errors(model, group)]
    return [
        f"{model.cpu_seconds:.2f}",
        f"{model.round_trips:.1f}",
        f"{model.transfer_share:.2f}",
        f"{sum(errors) / len(errors):.0%}",
        f"{max(errors):.0%}",
    ]


def _is_complete(group: list[LinkResult]) -> bool:
    """Return True if the model can be fitted to results, and compared with others."""
    settings = {each.round_trip_ms for each in group if not each.error}
    return {*FITTED_MS, *HELD_BACK_MS} <= settings and not any(each.error for each in group)


def _accuracy(results: Sequence[LinkResult]) -> str:
    """Return how many of the models predict well, as a sentence."""
    errors = [
        [abs(each) for each in held_back_errors(model_of(group), group)]
        for question in QUESTIONS
        for group in _groups([each for each in results if each.question == question])
        if _is_complete(group)
    ]
    means = sum(sum(each) / len(each) <= GOOD_ERROR for each in errors)
    all_settings = sum(max(each) <= GOOD_ERROR for each in errors)
    return (
        f"Of {len(errors)} models, {means} predict within {GOOD_ERROR:.0%} on the mean, and "
        f"{all_settings} at each setting.\n\n"
    )


def facts(results: Sequence[LinkResult]) -> str:
    """Return the summary that the package ships, as CSV."""
    found = []
    for question in QUESTIONS:
        for group in _groups([each for each in results if each.question == question]):
            if _is_complete(group):
                found.append(_costs(group))
    return flat_csv.to_csv(LinkCosts, found)


def _costs(group: list[LinkResult]) -> LinkCosts:
    first, model = group[0], model_of(group)
    errors = [abs(each) for each in held_back_errors(model, group)]
    versions = data_formats.find(first.format).availability().versions
    return LinkCosts(
        format=first.format,
        scheme=first.scheme,
        question=first.question,
        requests=first.requests,
        connections=first.connections,
        sent_bytes=first.sent_bytes,
        file_bytes=first.file_bytes,
        cpu_seconds=round(model.cpu_seconds, 4),
        round_trips=round(model.round_trips, 2),
        transfer_share=round(model.transfer_share, 3),
        mean_error=round(sum(errors) / len(errors), 4),
        largest_error=round(max(errors), 4),
        link=first.link,
        dataset=DATASET,
        rows=first.rows,
        date=datetime.now(UTC).date().isoformat(),
        libraries=", ".join(f"{name} {version}" for name, version in versions.items()),
    )


def _failures(results: Sequence[LinkResult]) -> str:
    lines = [
        f"- {each.format} by {_PROTOCOLS[each.scheme]}, {each.question}: {each.error}"
        for each in results
        if each.error
    ]
    return "## Failures\n\n" + "\n".join(lines) + "\n\n" if lines else ""


def _without() -> list[str]:
    names = data_formats.names()
    return [each for each in names if Feature.REMOTE not in data_formats.find(each).supports]


def _numbers(values: Sequence[float]) -> str:
    return " and ".join(f"{each:g}" for each in values)


def protocols_of(labels: Sequence[str]) -> list[tuple[str, str]]:
    """Return each format with each of its protocols; all formats if there are no labels.

    Raises
    ------
    UnknownNameError
        If a format is unknown.
    InvalidSelectionError
        If none of the formats has a remote reader.
    """
    known = data_formats.names()
    for label in labels:
        if label not in known:
            raise UnknownNameError("format", label, known)
    chosen = [
        (label, scheme)
        for label in labels or known
        if data_formats.find(label).availability()
        for scheme in data_formats.find(label).remote_schemes
    ]
    if not chosen:
        raise InvalidSelectionError(f"no remote reader to try: {joined(labels)}: local files only")
    return chosen


def run(
    trials: Sequence[tuple[str, str]], rows: int, repeats: int, out: Path, *, delays_only: bool = False
) -> list[LinkResult]:
    """Read formats by protocols, and write the results after each."""
    start, results, file = time.monotonic(), list[LinkResult](), StudyFile(FORM, out)
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # XRootD's server runs as another user
        with Link(Path(folder), delays_only=delays_only) as link:
            click.echo(f"link: {link.kind}{': ' if link.reason else ''}{link.reason}", err=True)
            for number, (label, scheme) in enumerate(trials, 1):
                for each in link_results(link, label, scheme, rows, repeats):
                    results.append(each)
                    file.append(each)
                place = f"[{number}/{len(trials)}, {time.monotonic() - start:.0f} s]"
                click.echo(f"{place} {label} by {_PROTOCOLS[scheme]}", err=True)
    return results


@click.command
@click.option("--out", type=click.Path(path_type=Path), help="Folder of the results, or a CSV file.")
@click.option("--formats", default="", metavar="LABELS", help="Labels with commas; all by default.")
@click.option("--rows", type=click.IntRange(1), default=200_000, show_default=True)
@click.option("--repeats", type=click.IntRange(1), default=2, show_default=True)
@click.option(
    "--delays-only", is_flag=True, help="Use the delaying server even where networks can be made."
)
@click.option(
    "--page", "shown", type=click.Path(path_type=Path), help="Print the page of results instead."
)
@click.option("--facts", "summarized", type=click.Path(path_type=Path), help="Print a summary as CSV.")
def command(  # noqa: PLR0913, PLR0917 (one parameter for each option)
    out: Path | None,
    formats: str,
    rows: int,
    repeats: int,
    delays_only: bool,  # noqa: FBT001 (a switch)
    shown: Path | None,
    summarized: Path | None,
) -> None:
    """Read tables over a link with a round-trip time and a bandwidth.

    Each format with a remote reader is read from a server of HTTP, S3 or XRootD that runs on this
    machine: whole, and two columns. The table has requests, connections, bytes and wall times, and a
    model that predicts the time of other links.

    \b
    Examples:
      format-bench study links --out reports/links
      format-bench study links --formats Parquet,Zarr --rows 20000 --out reports/links
      format-bench study links --page reports/links > docs/links.md
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    if summarized:
        click.echo(facts(_read(summarized)), nl=False)
        return
    if shown:
        results = _read(shown)
    elif out is None:
        raise click.UsageError("give --out FOLDER to measure, or --page RESULTS for the page")
    else:
        chosen = protocols_of([each for each in formats.split(",") if each])
        results = run(chosen, rows, repeats, out, delays_only=delays_only)
    click.echo(page(results), nl=False)


def _read(path: Path) -> list[LinkResult]:
    results = read(FORM, path)
    if not results:
        raise InvalidResultsError(f"{path} contains no results")
    return results
