"""Reads of all formats over links of several round-trip times and bandwidths."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import click

import data_formats
from adapter_core import Feature, InvalidSelectionError
from format_bench.network.link_results import (
    DATASET,
    FITTED_MS,
    FORM,
    HELD_BACK_MS,
    QUESTIONS,
    LinkModel,
    LinkResult,
    held_back_errors,
    link_results,
    model_of,
)
from format_bench.network.places import DELAYS, NETWORK, Link
from format_bench.results import flat_csv
from format_bench.results.display.text import joined
from format_bench.results.shipped import LinkCosts
from format_bench.studies.declared.blocks import Block, Context
from format_bench.studies.declared.rows import Agenda, Instrument, chosen, grouped

# Relative error up to which a prediction is good.
GOOD_ERROR = 0.15

# Round-trip times whose wall times are shown.
SHOWN_MS = (0.0, 20.0, 100.0)

_PROTOCOLS = {"http": "HTTP", "s3": "S3", "root": "XRootD"}

_LINKS = {
    NETWORK: (
        "The link is real: two network namespaces, joined by a program that delays packets and limits "
        "their rate. So handshakes, TCP's slow start and its windows take the time that they take "
        "between two machines."
    ),
    DELAYS: (
        "The link is that of a delaying server on loopback, which sleeps a round trip for each request "
        "and another for each connection, and paces its writes. TCP's slow start is missing: times of "
        "large reads over long links are too short, while requests and bytes are right."
    ),
}


def extent(context: Context) -> Iterator[Block]:
    """Yield the size of the table, the kind of link, and how well the models predict."""
    results: Sequence[LinkResult] = context.rows
    kinds = " ".join(_LINKS[kind] for kind in dict.fromkeys(each.link for each in results))
    repeats = max(each.repeats for each in results)
    sizes = joined(f"{each:,}" for each in dict.fromkeys(each.rows for each in results))
    errors = [each for *_, each in _models(results)]
    good = sum(sum(each) / len(each) <= GOOD_ERROR for each in errors)
    everywhere = sum(max(each) <= GOOD_ERROR for each in errors)
    yield Block(
        text=f"The table has {sizes} rows. {kinds} Each time is the least of up to "
        f"{repeats} reads.\n\nOf {len(errors)} models, {good} predict within {GOOD_ERROR:.0%} on the "
        f"mean, and {everywhere} at each setting."
    )


def tables(context: Context) -> Iterator[Block]:
    """Yield a table for each question and bandwidth, a row for each format and protocol."""
    header = [
        *("format", "protocol", "requests", "connections", "MB", "of the file"),
        *(f"{ms:.0f} ms" for ms in SHOWN_MS),
        *("CPU", "round trips", "share", "error", "largest"),
    ]
    for which, results in _apart(context.rows):
        for question in QUESTIONS:
            for mbit in sorted({each.mbit for each in results if each.question == question}):
                rows = [_row(group, mbit) for group in _groups(results, question)]
                title = f"{question.capitalize()}, {mbit:,.0f} Mbit/s{which}"
                yield Block(title, "Wall times and CPU in seconds.", header, rows, "ll" + "r" * 12)


def _apart(results: Sequence[LinkResult]) -> Iterator[tuple[str, list[LinkResult]]]:
    """Yield the reads of each size of the table by a kind of link, after what tells them from others."""
    sizes, kinds = {each.rows for each in results}, {each.link for each in results}
    for (rows, link), group in grouped(results, "rows", "link").items():
        which = [f"{rows:,} rows"] * (len(sizes) > 1) + [link] * (len(kinds) > 1)
        yield "".join(f", {each}" for each in which), group


def _groups(results: Sequence[LinkResult], question: str) -> Collection[list[LinkResult]]:
    """Return the reads of a question by each format and protocol, of a table by a kind of link."""
    own = [each for each in results if each.question == question]
    return grouped(own, "format", "scheme", "rows", "link").values()


def _models(
    results: Sequence[LinkResult],
) -> Iterator[tuple[LinkResult, LinkModel, list[float]]]:
    """Yield the first read, the model and the sizes of its errors, where a model can be fitted."""
    for question in QUESTIONS:
        for group in _groups(results, question):
            if found := _fitted(group):
                yield group[0], *found


def _fitted(group: list[LinkResult]) -> tuple[LinkModel, list[float]] | None:
    """Return the model and the sizes of its errors; None if a read that it needs has no result."""
    if any(each.error for each in group):
        return None
    if not {*FITTED_MS, *HELD_BACK_MS} <= {each.round_trip_ms for each in group}:
        return None
    model = model_of(group)
    return model, [abs(each) for each in held_back_errors(model, group)]


def _row(group: list[LinkResult], mbit: float) -> list[str]:
    """Return the row of a format at a bandwidth; its model is fitted to all bandwidths."""
    first = group[0]
    names = [first.format, _PROTOCOLS[first.scheme]]
    found = {each.round_trip_ms: each for each in group if each.mbit == mbit and not each.error}
    if not found:
        return [*names, *["-"] * 12]
    typical = found[min(found)]
    fitted = ["-"] * 5
    if values := _fitted(group):
        model, errors = values
        fitted = [
            f"{model.cpu_seconds:.2f}",
            f"{model.round_trips:.1f}",
            f"{model.transfer_share:.2f}",
            f"{sum(errors) / len(errors):.0%}",
            f"{max(errors):.0%}",
        ]
    return [
        *names,
        str(typical.requests),
        str(typical.connections),
        f"{typical.sent_bytes / 1e6:.2f}",
        f"{typical.sent_bytes / typical.file_bytes:.1%}",
        *(f"{found[ms].seconds:.2f}" if ms in found else "-" for ms in SHOWN_MS),
        *fitted,
    ]


def failures(context: Context) -> Iterator[Block]:
    """Yield the reads without a result, with the reasons."""
    items = [
        f"{each.format} by {_PROTOCOLS[each.scheme]}, {each.question}{which}: {each.error}"
        for which, results in _apart(context.rows)
        for each in results
        if each.error
    ]
    if items:
        yield Block(items=items)


def without(context: Context) -> Iterator[Block]:
    """Yield the formats without a remote reader."""
    del context
    names = data_formats.names()
    local = [each for each in names if Feature.REMOTE not in data_formats.find(each).supports]
    yield Block(
        text=f"Formats without a remote reader read local files only: {joined(local, most=None)}."
    )


def facts(results: Sequence[LinkResult]) -> str:
    """Return the summary that the package ships, as CSV."""
    return flat_csv.to_csv(LinkCosts, [_costs(*each) for each in _models(results)])


def _costs(first: LinkResult, model: LinkModel, errors: list[float]) -> LinkCosts:
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


def protocols_of(labels: Sequence[str]) -> list[tuple[str, str]]:
    """Return each format with each of its protocols.

    Raises
    ------
    InvalidSelectionError
        If none of the formats has a remote reader.
    """
    found = [
        (label, scheme)
        for label in labels
        if data_formats.find(label).availability()
        for scheme in data_formats.find(label).remote_schemes
    ]
    if not found:
        raise InvalidSelectionError(f"no remote reader to try: {joined(labels)}: local files only")
    return found


def measure(
    agenda: Agenda[LinkResult], formats: str, rows: int, repeats: int, *, delays_only: bool
) -> Iterator[LinkResult]:
    """Return the reads of formats, labels with commas, by each of their protocols.

    Raises
    ------
    UnknownNameError, InvalidSelectionError
        As `chosen` and `protocols_of` do.
    """
    protocols = protocols_of(chosen(formats, data_formats.names()))

    def measured() -> Iterator[LinkResult]:
        with TemporaryDirectory() as folder:
            Path(folder).chmod(0o755)  # XRootD's server runs as another user
            with Link(Path(folder), delays_only=delays_only) as link:
                click.echo(f"link: {link.kind}{': ' if link.reason else ''}{link.reason}", err=True)
                for label, scheme in protocols:
                    if agenda.has(format=label, scheme=scheme, rows=rows, link=link.kind):
                        yield from [*link_results(link, label, scheme, rows, repeats)]

    return measured()


INSTRUMENT = Instrument(
    FORM,
    measure,
    lambda row: f"{row.format} by {_PROTOCOLS[row.scheme]}",
    facts,
    needs_out=True,
)
