"""Study of damage: what readers do with flipped bits, truncated files and exchanged pages."""

from __future__ import annotations

import time
from pathlib import Path

import click

from adapter_core import UnknownNameError
from format_bench.families.operations import registry_of
from format_bench.results.suites import FAMILIES
from format_bench.studies.damaging import page as pages
from format_bench.studies.damaging.kinds import Kind
from format_bench.studies.damaging.results import Found, ResultsFile
from format_bench.studies.damaging.session import Session
from format_bench.studies.damaging.subjects import DATASETS, Subject, subjects_of


def run(session: Session, chosen: list[Subject]) -> None:
    """Try damages, and print a line for each subject when its results are on disk."""
    start = time.monotonic()
    for number, (subject, found) in enumerate(session.run(chosen), 1):
        place = f"[{number}/{len(chosen)}, {time.monotonic() - start:.0f} s]"
        click.echo(f"{place} {subject.family}: {subject.name}: {_counted(found)}", err=True)


def _counted(found: Found) -> str:
    if found.facts.get("sentence"):
        return str(found.facts["sentence"])
    counts = found.outcomes(Kind.FLIP)
    return f"{counts.total()} flips: " + ", ".join(f"{n} {each}" for each, n in counts.items())


@click.command
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the results; trials that it has are not made again.",
)
@click.option("--formats", default="", metavar="LABELS", help="Labels with commas; all by default.")
@click.option(
    "--families", default=",".join(DATASETS), show_default=True, help="Kinds of data, with commas."
)
@click.option("--flips", type=click.IntRange(1), default=100, show_default=True)
@click.option("--rows", type=click.IntRange(1), default=100_000, show_default=True)
@click.option("--dataset", help="Data set instead of the usual one of the family.")
@click.option("--seed", default=1, show_default=True, help="Seed of the damages.")
@click.option("--page", type=click.Path(path_type=Path), help="Print the page of results instead.")
@click.option("--facts", type=click.Path(path_type=Path), help="Print their summary as CSV instead.")
def command(  # noqa: PLR0913, PLR0917 (one parameter for each option)
    out: Path | None,
    formats: str,
    families: str,
    flips: int,
    rows: int,
    dataset: str | None,
    seed: int,
    page: Path | None,
    facts: Path | None,
) -> None:
    """Damage saved files, and classify what their readers do.

    A bit is flipped, the file cut, a page zeroed, two pages exchanged, a block doubled. Each damaged
    file is read in a process of its own, and the values compared with the intact file's.

    FLIPS and ROWS are those of the formats in the published table; other formats are tried on up to
    10,000 rows with up to 40 flips, and all with fewer damages of other kinds.

    \b
    Examples:
      format-bench study damage --out reports/damage
      format-bench study damage --formats Parquet,Feather --flips 20 --out reports/damage
      format-bench study damage --page reports/damage > docs/damage.md
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    if page:
        click.echo(pages.page(ResultsFile(page)), nl=False)
    elif facts:
        click.echo(pages.facts(ResultsFile(facts)), nl=False)
    elif out is None:
        raise click.UsageError("give --out FOLDER to try damages, or --page RESULTS for the page")
    else:
        chosen = _chosen(families.split(","), [each for each in formats.split(",") if each])
        subjects = [
            each
            for family, labels in chosen.items()
            for each in subjects_of(family, rows, labels, dataset)
        ]
        run(Session(out, seed=seed, flips=flips), subjects)


def _chosen(families: list[str], labels: list[str]) -> dict[str, list[str]]:
    """Return the labels of each family; a family without any of those asked for is left out.

    Raises
    ------
    UnknownNameError
        If a family or format is unknown.
    """
    for family in families:
        if family not in DATASETS:
            raise UnknownNameError("family", family, list(DATASETS))
    names = {family: registry_of(FAMILIES[family]).names() for family in families}
    for label in labels:
        known = [name for each in names.values() for name in each]
        if label not in known:
            raise UnknownNameError("format", label, known)
    found = {
        family: [name for name in each if not labels or name in labels] for family, each in names.items()
    }
    return {family: each for family, each in found.items() if each}
