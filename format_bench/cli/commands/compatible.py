"""Features of formats that may be used if some readers must read the files."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from format_bench.cli.help import Section, SectionedCommand
from format_bench.cli.options import Name, Names, known_readers
from format_bench.compatibility.feature_choice import Use, resolved, uses
from format_bench.compatibility.features import formats
from format_bench.results import shipped
from format_bench.results.display import terminal
from format_bench.results.display.text import joined, plural
from format_bench.studies.compatibility import INSTRUMENT
from format_bench.studies.compatible.feature_pages import readings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

HELP = """Print features that all of some readers read.

RESULTS is a folder that `study compatibility --features all` has measured; by default what is shipped,
whose date is printed. A reader is a library, with a version or its start, as in pyarrow-15; of several
versions that were tried, the newest counts. Or it is a program in another language, as in hyparquet.

\b
Examples:
  format-bench compatible --readers pyarrow-15,duckdb
  format-bench compatible --readers polars,hyparquet --format Parquet
  format-bench compatible --readers fastavro reports/features --json
"""


@click.command(cls=SectionedCommand, help=HELP)
@click.argument("results", type=click.Path(path_type=Path), required=False)
@Section.CHOICE.option(
    "--readers", type=Names(known_readers), required=True, help="Readers that must read the files."
)
@Section.CHOICE.option(
    "--format", "label", type=Name(formats), help="A format. [default: all that a reader was tried on]"
)
@Section.OUTPUT.option("--json", "as_json", is_flag=True, help="Print the whole answer as JSON.")
@click.pass_obj
def command(
    obj: dict[str, bool],
    results: Path | None,
    readers: tuple[str, ...],
    label: str | None,
    as_json: bool,  # noqa: FBT001 (a switch)
) -> None:
    """Print the features."""
    found = shipped.feature_readings()
    if results:
        rows, measured = INSTRUMENT.read(results)
        days = [str(each.get("started", ""))[:10] for each in measured.metadata]
        found = readings(rows, max(days, default=""))
    names = resolved(readers, found)
    answer = uses(names, found, [label] if label else [])
    dates = sorted({each.date for each in found if each.reader in names})
    if as_json:
        facts = {"readers": names, "measured": dates, "features": [*map(_facts, answer)]}
        click.echo(json.dumps(facts, ensure_ascii=False, indent=2))
    elif not obj["quiet"]:
        _show(answer, names, dates)


def _facts(use: Use) -> dict[str, Any]:
    """Return a feature as JSON values."""
    return {
        "format": use.format,
        "feature": use.feature.name,
        "title": use.feature.title,
        "setting": use.feature.setting or None,
        "verdict": use.verdict,
        "readings": [each._asdict() for each in use.readings],
    }


def _show(answer: Iterable[Use], names: Sequence[str], dates: Sequence[str]) -> None:
    console = terminal.console()
    measured = f", measured on {joined(dates, most=None)}" if any(dates) else ""
    terminal.prose(console, f"Features that {joined(names, most=None)} read{measured}:")
    for label, of_format in groupby(answer, key=lambda each: each.format):
        found = list(of_format)
        allowed = [each for each in found if each.is_allowed]
        console.print()
        title = f"{label}: {len(allowed)} of {plural(len(found), 'feature')}"
        rows = [[each.feature.name, each.feature.setting or "-", each.verdict] for each in allowed]
        terminal.table(console, title, ["feature", "setting", "values"], rows)
        for each in found:
            if not each.is_allowed:
                terminal.prose(console, f"- not {each.feature.name}: {each.reason}", indent="  ")
