"""Inventory of formats, data sets, codecs, suites, questions and conditions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import click
from rich.table import Table

import data_formats
from adapter_core import (
    Changeable,
    DataFormat,
    Feature,
    Partitions,
    Registry,
    RemoteArray,
    Trait,
    Tunable,
    UnavailableError,
)
from adapter_core.query_engine import EngineOnFormat
from format_bench.conditions import axes
from format_bench.families.operations import operations_of, registry_of
from format_bench.metadata import libraries
from format_bench.report.queries import query_names
from format_bench.results.display import terminal
from format_bench.results.display.markdown import table_lines
from format_bench.results.suites import FAMILIES, SUITES

Fact = dict[str, Any]

_OFFERED: dict[str, type] = {
    "changes in place": Changeable,
    "commits of several processes": Partitions,
    "reader and writer of object stores": RemoteArray,
}
"""Protocols beside the features of tables, as the list names them."""


def formats() -> list[Fact]:
    """Return a row for each adapter of each family, available or not."""
    return [
        _format(family.name, registry_of(family), name)
        for family in FAMILIES.values()
        for name in registry_of(family).names()
    ]


def datasets() -> list[Fact]:
    """Return a row for each data set that a run can generate."""
    return [
        {"name": name, "family": family.name, "description": operations_of(family).describe(name)}
        for family in FAMILIES.values()
        for name in operations_of(family).datasets()
    ]


def codecs() -> list[Fact]:
    """Return a row for each codec of each table format."""
    return [fact for name in data_formats.names() for fact in _codecs(name)]


def suites() -> list[Fact]:
    """Return a row for each suite."""
    return [
        {
            "name": each.name,
            "family": each.family,
            "measures": each.measures,
            "default data set": each.default_dataset,
            "tracks": ", ".join(track.name for track in each.tracks),
        }
        for each in SUITES.values()
    ]


def questions() -> list[Fact]:
    """Return a row for each question of each suite that asks any."""
    return [
        {"name": name, "suite": suite.name, "question": found.words}
        for suite in SUITES.values()
        if any(each.queries for each in suite.benchmarks)
        for name, found in query_names(suite.name).items()
    ]


def conditions() -> list[Fact]:
    """Return a row for each condition of measurements that is an option of `run`."""
    return [{"name": each.name, "option": each.option, "values": each.help} for each in axes().values()]


def codecs_by_format() -> list[Fact]:
    """Return a row for each table format, available or not, with codecs of the same levels together."""
    rows = []
    for label in data_formats.names():
        adapter = data_formats.find(label)
        names: dict[str, list[str]] = {}
        for codec in adapter.codecs:
            levels = codec.levels
            shown = f" {levels[0]} to {levels[-1]} ({codec.default_level})" if levels else ""
            names.setdefault(shown, []).append(codec.name)
        offered = "; ".join(f"{', '.join(same)}{levels}" for levels, same in names.items())
        rows.append(
            {
                "format": label,
                "own default": adapter.default_codec or "none",
                "codecs, their levels and in brackets the default level": offered or "no choice",
            }
        )
    return rows


def _format(family: str, registry: Registry[Any], name: str) -> Fact:
    fact: Fact = {
        "name": name,
        "family": family,
        "available": "yes",
        "versions": "",
        "offers": "",
        "note": "",
    }
    try:
        adapter = registry.find(name)
    except UnavailableError as error:
        return {**fact, "available": f"no: {error.reason}"}
    answer = adapter.availability()
    if not answer:
        fact["available"] = f"no: {answer.reason}; {answer.install_hint}"
    traits = [trait.value for trait in Trait if trait in (adapter.traits or ())]
    supported = adapter.supports if isinstance(adapter, DataFormat) else frozenset()
    features = [feature.value for feature in Feature if feature in supported]
    checksums = ["checksums"] if adapter.checksums else []
    written = adapter.format if isinstance(adapter, EngineOnFormat) else adapter
    tuned = ["tuned files"] if isinstance(written, Tunable) else []
    tuned += ["recommended settings"] if getattr(adapter, "recommended", None) else []
    protocols = [phrase for phrase, protocol in _OFFERED.items() if isinstance(adapter, protocol)]
    return {
        **fact,
        "versions": ", ".join(_versions(adapter.requires)),
        "offers": ", ".join([*features, *protocols, *traits, *checksums, *tuned]),
        "note": "; ".join(filter(None, [_safety(adapter.traits), adapter.crash_on_damage])),
    }


def _safety(traits: frozenset[Trait] | None) -> str:
    if traits is None:
        return "not known whether reading is safe"
    return "" if Trait.SAFE in traits else "reading can run code that a file contains"


def _versions(requires: tuple[str, ...]) -> Iterator[str]:
    for name, version in libraries.versions(requires).items():
        yield f"{name} {version or 'is missing'}"


def _codecs(name: str) -> Iterator[Fact]:
    try:
        adapter = data_formats.find(name)
    except UnavailableError:
        return
    for codec in adapter.codecs:
        answer = adapter.codec_availability(codec.name)
        levels = codec.levels
        yield {
            "format": name,
            "codec": codec.name,
            "levels": f"{levels[0]} to {levels[-1]}" if levels else "",
            "default level": "" if codec.default_level is None else codec.default_level,
            "own default": "yes" if codec.name == adapter.default_codec else "",
            "available": "yes" if answer else f"no: {answer.reason}",
        }


WHAT: dict[str, Callable[[], list[Fact]]] = {
    "formats": formats,
    "datasets": datasets,
    "codecs": codecs,
    "suites": suites,
    "questions": questions,
    "conditions": conditions,
}


@click.command("list")
@click.argument("what", type=click.Choice(list(WHAT)), required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--markdown", is_flag=True, help="Print Markdown; of codecs a row for each format.")
def command(what: str | None, as_json: bool, markdown: bool) -> None:  # noqa: FBT001 (switches)
    """List formats, datasets, codecs, suites, questions or conditions; all if none is named.

    For each format: available or the reason why not, versions of its libraries, features, and safety of
    reading its files. Losses of formats are in docs/losses.md, and in the results of each run.
    """
    what_of = WHAT | {"codecs": codecs_by_format} if markdown else WHAT
    found = {name: rows() for name, rows in what_of.items() if what in {None, name}}
    if markdown:
        tables = [
            "\n".join(
                table_lines(
                    list(rows[0]), [[*map(str, row.values())] for row in rows], "l" * len(rows[0])
                )
            )
            for rows in found.values()
        ]
        click.echo("\n\n".join(tables))
        return
    if as_json:
        click.echo(json.dumps(found if what is None else found[what], indent=2))
        return
    to = terminal.console()
    for name, rows in found.items():
        shown = Table(title=name, title_justify="left", title_style="bold", box=None, pad_edge=False)
        for position, header in enumerate(rows[0]):
            shown.add_column(header, no_wrap=not position, overflow="fold")
        for row in rows:
            shown.add_row(*(str(value) for value in row.values()))
        to.print(shown)
        to.print()
