"""Facts of one format, code to paste, and cells of results with scripts that measure them again."""

from __future__ import annotations

import re
import shlex
import shutil
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from adapter_core import BaseAdapter, DataFormat, Feature, Registry, Trait, UnavailableError
from adapter_core.adapter import format_of
from adapter_core.codec_choice import CodecChoice
from adapter_core.errors import UnknownNameError
from adapter_core.query_engine import EngineOnFormat
from adapter_core.snippets import Code, Snippet
from adapter_core.text import visible
from format_bench.cli import reproduction
from format_bench.cli.options import Name, codec_names, format_names
from format_bench.families.operations import registry_of
from format_bench.metadata import libraries
from format_bench.recommendation.card import card
from format_bench.recommendation.code import SILENT
from format_bench.results.suites import FAMILIES
from format_bench.runner.plan import codec_choice

# Codec of the page's examples where an adapter has it: small and fast at its usual level.
_EXAMPLE_CODEC = "zstd"

_MISSING = (
    "nulls, and NaN in a column of floats, which is pandas' null there and not a number above all "
    "others; no question is asked of NaN beside nulls"
)

_WIDEST_FACT = len("the library's default")


_INTRODUCTION = """
The settings card of each format, and the calls that write and read it without FormatBench.

A card says which settings a label without a codec stands for, what the library does unasked, what a file tells of it
(a test compares this with the file itself), and what the format's makers advise. [Reading results](reading_results.md)
has the other labels, and `format-bench run --settings recommended` measures the advice.

`format-bench show LABEL --code --codec zstd:3` prints the code for any codec and level; here it has `zstd` where the
format has it. A test runs each in a process that cannot import this project, and compares what it reads with what it
wrote. This page is made by `format-bench show --markdown`.
"""  # noqa: E501 (lines of a page)


@click.command("show")
@click.argument("label", type=Name(format_names), metavar="[LABEL|RESULTS]", required=False)
@click.option(
    "--code", "shows_code", is_flag=True, help="Print the code that writes and reads it, to paste."
)
@click.option(
    "--codec",
    type=Name(codec_names),
    default="none",
    help="Codec in the code, e.g. zstd or zstd:3.",
)
@click.option("--level", type=int, help="Level of the codec.")
@click.option(
    "--family",
    type=click.Choice(list(FAMILIES)),
    help="Family, if several have the label. [default: the first of them]",
)
@click.option("--markdown", is_flag=True, help="Print the code of all formats as a page.")
@click.option(
    "--cell", help="A cell of RESULTS, e.g. 'tabular/core/Parquet zstd 3/read_time': show its facts."
)
@click.option(
    "--script", "wants_script", is_flag=True, help="Print a script that measures the cell again."
)
@click.option("--data", help="Your file, for a cell on your own data.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write the script, and the data that it reads, to this folder.",
)
def command(  # noqa: PLR0913 (options)
    *,
    label: str | None,
    shows_code: bool,
    codec: str,
    level: int | None,
    family: str | None,
    markdown: bool,
    cell: str | None,
    wants_script: bool,
    data: str | None,
    out: Path | None,
) -> None:
    """Show facts of a format, its code, or a cell of results.

    \b
    Examples:
      format-bench show Parquet
      format-bench show Parquet --code --codec zstd:3
      format-bench show "Parquet[polars]" --code
      format-bench show HDF5 --family arrays --code
      format-bench show reports/run --cell tabular/core/CSV/size
      format-bench show reports/run --cell tabular/core/CSV/size --out again
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    if markdown:
        click.echo("\n".join(page()))
        return
    if label is None:
        raise click.UsageError("name a format, as in: format-bench show Parquet --code")
    if cell is not None:
        if shows_code:
            raise click.UsageError("--code is of a format; --script is the code of a cell")
        _show_cell(label, cell, data, out, wants_script=wants_script or data is not None)
        return
    if wants_script or data is not None or out is not None:
        raise click.UsageError("a script is of a cell of results: name it by --cell")
    families = [family] if family else _families_with(label)
    registry = registry_of(FAMILIES[families[0]])
    adapter = registry.find(label)
    if not shows_code:
        _print_facts(label, facts(families[0], registry, adapter))
        _print_calls(adapter)
        return
    name, of_name = codec_choice(codec)
    if level is not None and of_name is not None:
        raise click.UsageError(f"--codec {codec} and --level {level} both give a level")
    code = _code(adapter, name, of_name if level is None else level)
    if code is None:
        raise click.UsageError(f"{label} has no code to paste: {adapter.snippet or SILENT}")
    click.echo(code.text)
    for note in _elsewhere(label, families, registry):
        click.echo(f"# {note}")


def _print_calls(adapter: BaseAdapter) -> None:
    """Print the calls of an adapter's usual settings, if it has code."""
    if (code := _code(adapter, None, None)) is not None:
        for what, lines in (("saves by", code.write), ("reads by", code.read)):
            click.echo(f"  {what}")
            click.echo(textwrap.indent(lines, "    "))


def _print_facts(title: str, found: Iterable[Sequence[str]]) -> None:
    click.echo(title)
    width = shutil.get_terminal_size().columns
    for fact, text in found:
        start = f"  {fact:{_WIDEST_FACT}}  "
        click.echo(
            textwrap.fill(
                visible(text),
                width,
                initial_indent=start,
                subsequent_indent=" " * len(start),
                break_long_words=False,  # of addresses
                break_on_hyphens=False,
            )
        )


def _show_cell(
    source: str, name: str, data: str | None, out: Path | None, *, wants_script: bool
) -> None:
    """Print the facts of a cell, or its script; with a folder, write the script and its data there."""
    cell = reproduction.cell_of(source, name)
    if not wants_script and out is None:
        _print_facts(name, reproduction.facts(cell.record))
        return
    text = reproduction.script(cell, data, out)
    if out is None:
        click.echo(text, nl=False)
    else:
        place = shlex.quote(str(out))
        click.echo(f"written; run it there: cd {place} && python {reproduction.SCRIPT}")


def _families_with(label: str) -> list[str]:
    """Return the families that have a label, in their order."""
    found = [name for name, each in FAMILIES.items() if label in registry_of(each).names()]
    if not found and Path(label).exists():
        raise click.UsageError(
            f"{label} is no format; of results, name a cell: --cell SUITE/DATA/FORMAT/METRIC"
        )
    if not found:
        every = sorted({name for each in FAMILIES.values() for name in registry_of(each).names()})
        raise UnknownNameError("format", label, every)
    return found


def _code(adapter: BaseAdapter, codec: str | None, level: int | None) -> Code | None:
    if isinstance(adapter, CodecChoice):
        return adapter.code(codec, level)
    if codec is not None or level is not None:
        raise click.UsageError(f"{adapter.label} has no codecs")
    return adapter.code()


def _elsewhere(label: str, families: list[str], registry: Registry[Any]) -> Iterator[str]:
    others = _other_engines(label, registry)
    if others:
        yield f"by other libraries: {', '.join(others)}"
    if families[1:]:
        yield f"{label} is also one of {', '.join(families[1:])}: --family {families[1]}"


def _other_engines(label: str, registry: Registry[Any]) -> list[str]:
    name = format_of(label)
    return [each for each in registry.names() if each != label and format_of(each) == name]


def facts(family: str, registry: Registry[Any], adapter: Any) -> Iterator[list[str]]:
    """Yield the facts of an adapter that it declares, or that follow from these, each with its name."""
    answer = adapter.installed() if adapter.environment else adapter.availability()
    versions = libraries.versions(adapter.requires, adapter.environment)
    found = {
        "family": family,
        "available": "yes" if answer else f"no: {answer.reason}; {answer.install_hint}",
        "environment": adapter.environment,
        "libraries": ", ".join(f"{name} {version or 'missing'}" for name, version in versions.items()),
        "files end with": adapter.suffix,
        "codecs": _codecs(adapter),
        **card(adapter),
        "properties": ", ".join(each for each in Trait if each in (adapter.traits or ())),
        "reads and writes": ", ".join(each for each in Feature if each in _features(adapter)),
        "missing values": _MISSING if isinstance(adapter, EngineOnFormat) else "",
        "checksums": adapter.checksums,
        "cannot hold": _grouped(getattr(adapter, "refuses", {})),
        "comes back changed": _changes(adapter),
        "on damaged files": adapter.crash_on_damage,
        "other libraries": ", ".join(_other_engines(adapter.label, registry)),
        "code": "" if isinstance(adapter.snippet, Snippet) else f"none: {adapter.snippet or SILENT}",
    }
    yield from ([name, text] for name, text in found.items() if text)


def _codecs(adapter: Any) -> str:
    if not isinstance(adapter, CodecChoice):
        return "none"
    return ", ".join(map(_with_levels, adapter.codecs)) or "no choice"


def _with_levels(codec: Any) -> str:
    if not codec.levels:
        return str(codec.name)
    first, last = codec.levels[0], codec.levels[-1]
    return f"{codec.name} {first} to {last} (usually {codec.default_level})"


def _features(adapter: Any) -> frozenset[Feature]:
    return adapter.supports if isinstance(adapter, DataFormat) else frozenset()


def _grouped(refuses: dict[str, str]) -> str:
    """Return kinds of columns with the reasons, grouped by reason."""
    kinds: dict[str, list[str]] = {}
    for kind, reason in refuses.items():
        kinds.setdefault(reason, []).append(kind)
    return "; ".join(f"{', '.join(same)} ({reason})" for reason, same in kinds.items())


def _changes(adapter: Any) -> str:
    snippet = adapter.snippet
    changes = snippet.changes if isinstance(snippet, Snippet) else {}
    return ", ".join(f"{before} as {after}" for before, after in changes.items())


def page() -> Iterator[str]:
    """Yield the lines of the page with the cards and the code of all formats."""
    yield "# Settings and code"
    yield from _INTRODUCTION.splitlines()
    for name, family in FAMILIES.items():
        registry = registry_of(family)
        sections: dict[str, list[str]] = {}
        for label in registry.names():
            try:
                found = "\n".join(_section(registry.find(label)))
            except UnavailableError:
                continue
            sections.setdefault(found, []).append(label)
        yield from ["", f"## {name.capitalize()}"]
        # Formats of the JVM, and pairs of an engine and a format, have one card in common.
        for found, labels in sections.items():
            yield from ["", f"### {', '.join(labels)}", "", *found.splitlines()]


def _section(adapter: Any) -> Iterator[str]:
    """Yield the card of an adapter and its code, or why it has none."""
    code = _code(adapter, _example_codec(adapter), None)
    if code is not None:
        yield f"- libraries: {', '.join(libraries.versions(adapter.requires))}"
    for name, text in card(adapter).items():
        yield f"- {name}: {_linked(text)}"
    if code is None:
        yield f"- code: none: {adapter.snippet}"
    else:
        yield from ["", "```python", *code.text.splitlines(), "```"]


def _linked(text: str) -> str:
    """Return a text with its addresses as links, and names with underscores as code."""
    text = re.sub(r"(?<![\w/.])(\w+_\w+(?:=[\w.]+)?)", r"`\1`", text)
    return re.sub(r"(https://[^\s,)`]+)", r"<\1>", text)


def _example_codec(adapter: Any) -> str | None:
    names = [each.name for each in getattr(adapter, "codecs", ())]
    if _EXAMPLE_CODEC in names:
        return _EXAMPLE_CODEC
    return adapter.default_codec if names and adapter.default_codec in names else None
