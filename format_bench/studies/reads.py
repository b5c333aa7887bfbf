"""Study of reads: which bytes of a file each format reads for a question, drawn and counted."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from adapter_core.availability import import_failure
from adapter_core.files import write_atomically
from format_bench.families.cases import Case
from format_bench.families.operations import registry_of
from format_bench.instruments.read_map import Method
from format_bench.results.load import metadata_beside
from format_bench.results.suites import FAMILIES
from format_bench.runner import folders
from format_bench.studies.read_maps import mapping, picture, shares
from format_bench.studies.read_maps.mapping import Data, Mapped

USUAL = {
    "tables": (
        *("Parquet", "Parquet[polars]", "Parquet[duckdb]", "Feather", "Feather[polars]", "ORC"),
        *("ROOT.TTree", "ROOT.TTree[ROOT]", "ROOT.RNTuple", "ROOT.RNTuple[ROOT]", "HDF5.table"),
        *("HDF5[h5py]", "Lance", "Vortex", "Zarr", "TileDB", "Blosc2", "NPZ", "DuckDB", "SQLite"),
        *("Avro", "Protobuf", "Pickle", "CSV"),
    ),
    "images": ("PNG", "HDF5", "Zarr", "Lance", "Parquet", "ZIP", "TFRecord"),
    "arrays": ("HDF5", "Zarr.dir", "Zarr.zip", "NPY", "TileDB", "Blosc2"),
}
"""Formats of each family if none is named."""

PAGE, PICTURE = "reads.md", "reads"


def measured(
    data: Data, cases: Sequence[Case], method: Method | None, *, check: bool
) -> Iterator[Mapped]:
    """Yield the maps of all cases, with a line of progress for each."""
    for number, case in enumerate(cases, 1):
        for each in mapping.maps(data, case, method, check=check):
            if each.asked == data.asked[0]:
                done = f"[{number}/{len(cases)}] {each.configuration}"
                click.echo(f"{done}: {picture.words([each])}", err=True)
            yield each


@click.command
@click.argument("labels", nargs=-1, metavar="[FORMAT]...")
@click.option("--dataset", default="kaons", show_default=True, help="Name of the data set.")
@click.option("--rows", type=click.IntRange(1), help="Rows, images or chunks.  [default: 100000 rows]")
@click.option("--data", metavar="FILE|FOLDER", help="Your own table file, folder of images, or array.")
@click.option("--sample", type=click.IntRange(1), help="Take so many rows of your data at random.")
@click.option("--columns", default="", metavar="A,B", help="Columns to ask for.  [default: two]")
@click.option("--where", metavar="TEXT", help='Rows to ask for, as in "price < 3.5 and kind == a".')
@click.option("--codecs", default="none,zstd", show_default=True, help="Where a format offers them.")
@click.option(
    "--method",
    type=click.Choice([each.value for each in Method]),
    help="Way to find the bytes.  [default: exact where it is permitted]",
)
@click.option("--check", is_flag=True, help="Count by strace, /proc and page residency, too.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default="reports/reads",
    show_default=True,
    help="Folder for the results, the page and the picture.",
)
@click.option(
    "--scratch",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder for the measured files.",
)
def command(  # noqa: PLR0913, PLR0917 (one parameter for each option)
    labels: tuple[str, ...],
    dataset: str,
    rows: int | None,
    data: str | None,
    sample: int | None,
    columns: str,
    where: str | None,
    codecs: str,
    method: str | None,
    check: bool,  # noqa: FBT001 (a switch)
    out: Path,
    scratch: Path | None,
) -> None:
    """Map which bytes of a file are read.

    Each format saves the data, and is asked for some columns, everything, the first rows, and rows that
    pass a condition; for one image, a batch and everything; or for one plane, one series and everything
    of an array. Prints a page with shares and numbers of requests, and writes it to reads.md, and a
    picture of the first question to reads.svg and reads.png. The figures are added to results.jsonl, and
    the maps are beside it in the folder maps.

    \b
    Examples:
      format-bench study reads --rows 1000000
      format-bench study reads Parquet ORC --data mine.csv --columns price,kind --where "price < 3"
      format-bench study reads --dataset era5-small --codecs none
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    if data is not None and rows is not None:
        raise click.UsageError("--data excludes --rows; --sample takes some of its rows")
    if data is None and sample is not None:
        raise click.UsageError("--sample needs --data")
    with folders.make(scratch or Path(tempfile.gettempdir())) as folder:
        plain = mapping.own(data, sample, folder) if data else mapping.generated(dataset, rows, folder)
        asked = mapping.with_selection(plain, [each for each in columns.split(",") if each], where)
        chosen = [None if each == "none" else each for each in codecs.split(",")]
        way = Method(method) if method else None
        known = registry_of(FAMILIES[asked.family]).names()
        usual = [each for each in USUAL[asked.family] if each in known]
        cases = mapping.cases(asked, labels or usual, chosen)
        answers = [*mapping.kept(asked, measured(asked, cases, way, check=check), out)]
    drawn = [each for each in answers if each.asked == asked.asked[0] and each.map]
    reason = import_failure("matplotlib") if drawn else "there is no map"
    if reason:
        click.echo(f"reads: no picture, since {reason}", err=True)
    chart = None if reason else picture.chart(asked, drawn)
    if chart:
        picture.save(chart, out, PICTURE)
    found = shares.page(asked, answers, chart, metadata_beside(out))
    text = found.markdown(f"{PICTURE}.png" if chart else "", folds=False)
    click.echo(text, nl=False)
    with write_atomically(out / PAGE) as temporary:
        temporary.write_text(text, encoding="utf-8")
