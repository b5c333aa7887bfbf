"""Inventory of formats, data sets, codecs, suites, questions and conditions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

import click
from rich.table import Table
from rich.text import Text

import data_formats
from adapter_core import (
    Availability,
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
from format_bench.recommendation.card import card
from format_bench.report.queries import query_names
from format_bench.results.display import terminal
from format_bench.results.display.markdown import table_lines
from format_bench.results.suites import FAMILIES, SUITES

Fact = dict[str, Any]

# Protocols beside the features of tables, as the list names them.
_OFFERED: dict[str, type] = {
    "changes in place": Changeable,
    "commits of several processes": Partitions,
    "reader and writer of object stores": RemoteArray,
}

# Libraries that most adapters need; the short list has their versions where there is no other.
_USUAL = ("numpy", "pandas", "pyarrow")


def formats() -> list[Fact]:
    """Return a row for each adapter of each family, available or not."""
    return [
        _format(family.name, registry_of(family), name)
        for family in FAMILIES.values()
        for name in registry_of(family).names()
    ]


def installed() -> list[Fact]:
    """Return a row for each adapter of each family, without importing a library of any."""
    return [
        _installed(family.name, registry_of(family), name)
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


def _installed(family: str, registry: Registry[Any], name: str) -> Fact:
    try:
        adapter = registry.find(name)
    except UnavailableError as error:
        return {"family": family, "name": name, "version": "", "available": f"no: {error.reason}"}
    answer = adapter.installed()
    found = answer.versions
    own = [each for each in found if each not in _USUAL] or [each for each in found if each != "numpy"]
    return {
        "family": family,
        "name": name,
        "version": ", ".join(f"{each} {found[each]}" for each in own),
        "available": _words(adapter, "installed", answer),
    }


def _words(adapter: Any, word: str, answer: Availability) -> str:
    """Return an availability in words, with the environment of the adapter's own, if any."""
    if not answer:
        return f"no: {answer.reason}; {answer.install_hint}"
    return f"{word}, in its environment {adapter.environment}" if adapter.environment else word


def _format(family: str, registry: Registry[Any], name: str) -> Fact:
    fact: Fact = {
        "name": name,
        "family": family,
        "available": "yes",
        "versions": "",
        "settings": "",
        "offers": "",
        "note": "",
    }
    try:
        adapter = registry.find(name)
    except UnavailableError as error:
        return {**fact, "available": f"no: {error.reason}"}
    # The libraries of another environment cannot be imported here.
    answer = adapter.installed() if adapter.environment else adapter.availability()
    fact["available"] = _words(adapter, "yes", answer)
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
        "versions": ", ".join(_versions(adapter)),
        "settings": _settings(adapter),
        "offers": ", ".join([*features, *protocols, *traits, *checksums, *tuned]),
        "note": "; ".join(filter(None, [_safety(adapter.traits), adapter.crash_on_damage])),
    }


def _settings(adapter: Any) -> str:
    """Return the card in brief: settings of saves, the library's default, version and advice."""
    found = card(adapter)
    advice = found["its makers advise"] if getattr(adapter, "has_advice", False) else ""
    version = adapter.file_facts.version
    words = {
        "": found["saves with"],
        "default": found["the library's default"],
        "version": version,
        "advice": advice.partition(" (")[0],
    }
    return "; ".join(f"{name} {text}".strip() for name, text in words.items() if text)


def _safety(traits: frozenset[Trait] | None) -> str:
    if traits is None:
        return "not known whether reading is safe"
    return "" if Trait.SAFE in traits else "reading can run code that a file contains"


def _versions(adapter: Any) -> Iterator[str]:
    for name, version in libraries.versions(adapter.requires, adapter.environment).items():
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
"""Listed things with all facts."""

SHORT = WHAT | {"formats": installed, "codecs": codecs_by_format}
"""The same with the facts that need no import of a format's library."""


@click.command("list")
@click.argument("what", metavar="[WHAT]", type=click.Choice(list(WHAT)), required=False)
@click.option("--long", "is_long", is_flag=True, help="Import each library, and print all facts.")
@click.option("--json", "as_json", is_flag=True, help="Print all facts as JSON.")
@click.option("--markdown", is_flag=True, help="Print all facts as Markdown; codecs by format.")
def command(what: str | None, is_long: bool, as_json: bool, markdown: bool) -> None:  # noqa: FBT001 (switches)
    """List formats, data sets, codecs, suites and conditions.

    WHAT is formats (the default), datasets, codecs, suites, questions or conditions.

    A format is installed if its libraries are, here or in an environment of its own. With --long each
    library of this environment is imported, which takes several seconds and finds broken ones; the list
    then also has what each adapter offers, and whether reading its files is safe. --long, --json and
    --markdown without WHAT list everything.

    \b
    Examples:
      format-bench list
      format-bench list codecs
      format-bench list formats --long
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    has_all = is_long or as_json or markdown
    what = what or (None if has_all else "formats")
    what_of = WHAT if has_all else SHORT
    if markdown:
        what_of = WHAT | {"codecs": codecs_by_format}
    found = {name: rows() for name, rows in what_of.items() if what in {None, name}}
    if markdown:
        click.echo("\n\n".join(map(_markdown, found.values())))
    elif as_json:
        click.echo(json.dumps(found if what is None else found[what], indent=2))
    else:
        for name, rows in found.items():
            _show(name, rows)
        if not has_all and what == "formats":
            others = ", ".join(name for name in WHAT if name != what)
            click.echo(f"format-bench list WHAT lists {others}; --long has more.", err=True)


def _markdown(rows: list[Fact]) -> str:
    header = list(rows[0])
    return "\n".join(table_lines(header, [[*map(str, row.values())] for row in rows], "l" * len(header)))


def _show(title: str, rows: list[Fact]) -> None:
    """Print rows as a table, or one for each family where rows start with it."""
    to = terminal.console()
    first = next(iter(rows[0]))
    if first == "family":
        for family, members in groupby(rows, key=itemgetter("family")):
            facts = [{name: fact for name, fact in row.items() if name != "family"} for row in members]
            _show(f"{title}: {family} ({len(facts)})", facts)
        return
    shown = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for header in rows[0]:
        shown.add_column(header, no_wrap=header == first, overflow="fold")
    for row in rows:
        shown.add_row(*(Text(str(value)) for value in row.values()))
    to.print(shown)
    to.print()
