"""Specification of a table's properties as a file, and a synthetic twin of the table."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

import data_formats
import data_generator
from adapter_core import FormatBenchError
from adapter_core.files import write_atomically
from data_generator.profiling.measures import Measures, measure
from data_generator.profiling.profile import as_arrow, profile
from data_generator.profiling.twin import Twin
from data_generator.profiling.twin import twin as twin_of
from data_generator.random_words import RandomWords
from data_generator.spec.arrow import plain, type_properties
from data_generator.spec.io import as_text, check_ending, write_spec
from format_bench.cli.options import measuring_console, taken_limits, taken_parse_dates, with_data_limits
from format_bench.results.candidates import Configuration
from format_bench.results.display import terminal
from format_bench.runner.reading_display import ReadingDisplay
from format_bench.runner.user_data import Source, read_table

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

# Ending of a specification that is read as the table that it describes.
SPECIFICATION = ".toml"

STATEMENT = (
    "The specification contains statistics of each column, and no value, category or text of the table. "
    "Statistics reveal something of a table all the same: see docs/realistic_data.md."
)


@click.command
@click.argument("table")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Write the specification, *.toml or *.json."
)
@click.option("--twin", type=click.Path(path_type=Path), help="Write a synthetic twin, *.parquet.")
@click.option("--sample", type=click.IntRange(1), help="Use only N consecutive rows.")
@click.option("--keep-names", is_flag=True, help="Keep column names, instead of c0, c1, ...")
@click.option("--seed", type=int, default=data_generator.DEFAULT_SEED, help="Seed of sample and twin.")
@click.option("--trust-pickle", is_flag=True, help="Load a pickle, which can run any code.")
@with_data_limits
@click.pass_context
def command(
    ctx: click.Context, /, table: str, out: Path | None, twin: Path | None, **options: Any
) -> None:
    """Describe a table by statistics, to share a synthetic twin.

    TABLE is a file, or the name of a generated or real table. The specification contains frequencies,
    order and widths of each column's values, but no value, category or text of the table. Without
    --out it is printed. Who gets it makes the twin from it, or measures it by --data my.toml.

    \b
    Examples:
      format-bench profile my.parquet --out my.toml
      format-bench profile my.toml --twin twin.parquet
      format-bench profile flights --twin twin.parquet
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    is_spec = _is_spec(table, out, twin)
    limits, parse_dates = taken_limits(options, table), taken_parse_dates(options, table)
    source = Source(table, None, options["trust_pickle"], limits=limits, parse_dates=parse_dates)
    original = _loaded(source, measuring_console(quiet=ctx.obj["quiet"]))
    if options["sample"]:
        original = _block(original, options["sample"], options["seed"])
    if is_spec and twin:
        _write(original, twin)
        return
    spec = profile(original, keep_names=options["keep_names"], seed=options["seed"])
    made = twin_of(spec, original) if twin else None
    if made:
        spec = made.spec
    if out:
        write_spec(spec, out)
    elif not twin:
        click.echo(as_text(spec, SPECIFICATION), nl=False)
    if made and twin:
        _write(made.df, twin)
        _show(original, made)
    if not ctx.obj["quiet"]:
        click.echo(STATEMENT, err=True)


def _is_spec(table: str, out: Path | None, twin: Path | None) -> bool:
    """Return True if the table is a specification, whose table alone can be written; check the files."""
    if out:
        check_ending(out)
    if twin and twin.suffix != ".parquet":
        raise click.UsageError(f"a twin is written as Parquet, to a file *.parquet, not {twin.name}")
    is_spec = Path(table).suffix == SPECIFICATION
    if is_spec and (out or not twin):
        raise click.UsageError(f"{table} is a specification already; --twin writes its table")
    return is_spec


def _loaded(source: Source, shown: Console) -> pd.DataFrame:
    """Return a named table, or a file's."""
    if source.path not in data_generator.names() or Path(source.path).exists():
        with ReadingDisplay(shown, source.path) as display:
            return read_table(source, display, partial(shown.print, soft_wrap=True))
    df = data_generator.table(source.path).df
    if df is None:
        raise AssertionError(f"{source.path} is no table")
    return df


def _block(df: pd.DataFrame, rows: int, seed: int) -> pd.DataFrame:
    """Return rows that follow each other, from a random one on: a sample would have lost the order."""
    if rows >= len(df):
        return df
    first = int(RandomWords("profile", seed).integers(len(df) - rows + 1, 1)[0])
    return df.iloc[first : first + rows].reset_index(drop=True)


def _write(df: pd.DataFrame, path: Path) -> None:
    with write_atomically(path) as temporary:
        df.to_parquet(temporary, compression="zstd", index=False)


def _show(original: pd.DataFrame, made: Twin) -> None:
    """Print the properties and sizes of the twin beside the original's."""
    to = terminal.console()
    header = ["column", "dtype", *(name.replace("_", " ") for name in PROPERTIES)]
    properties = property_rows(original, made.df)
    terminal.table(to, "Properties, original / twin", header, properties)
    header = ["format", "original, bytes", "twin, bytes", "twin / original", "places"]
    rows, refusals = size_rows(original, made.df)
    terminal.table(to, "Sizes, and places by size", header, rows)
    for sentence in refusals:
        terminal.prose(to, sentence, "  ")
    shared = made.shared_texts
    terminal.prose(
        to,
        f"{shared} short texts are in both by chance."
        if shared
        else "No text of the original is in the twin.",
    )


PROPERTIES = ("ndv_ratio", "null_ratio", "sortedness", "mean_run_length")


def property_rows(original: pd.DataFrame, twin: pd.DataFrame) -> list[list[str]]:
    """Return a row for each flat column: its name, its dtype, and each property here and there."""
    rows = []
    for name, of_twin in zip(original.columns, twin.columns, strict=True):
        pair = [_measured(df, column) for df, column in ((original, name), (twin, of_twin))]
        one, other = pair
        if one and other:
            cells = [f"{getattr(one, each):.2g} / {getattr(other, each):.2g}" for each in PROPERTIES]
            rows.append([str(of_twin), str(original[name].dtype), *cells])
    return rows


CONFIGURATIONS = (
    *map(Configuration, ("CSV", "Feather", "Lance", "ORC", "Parquet")),
    Configuration("Parquet", "snappy"),
    Configuration("Parquet", "zstd"),
    Configuration("Vortex"),
)
"""Files whose sizes are compared: text, rows of columns, and codecs that a twin has to fool alike."""


def sizes(
    df: pd.DataFrame, configurations: Iterable[Configuration] = CONFIGURATIONS
) -> dict[Configuration, int | str]:
    """Return the bytes of a table in each configuration, or why there is no file."""
    found: dict[Configuration, int | str] = {}
    for each in configurations:
        try:
            adapter = data_formats.get(each.format)
            with TemporaryDirectory() as folder:
                path = Path(folder, f"table{adapter.suffix}")
                adapter.save(df, path, codec=each.codec)
                found[each] = adapter.size_bytes(path)
        except FormatBenchError as error:
            found[each] = str(error)
    return found


def places(found: dict[Configuration, int | str]) -> dict[Configuration, int]:
    """Return the rank of each configuration with a size; the smallest has rank 1."""
    known = {each: size for each, size in found.items() if isinstance(size, int)}
    ordered = sorted(known, key=lambda each: (known[each], each.sort_key))
    return {each: place for place, each in enumerate(ordered, 1)}


def size_rows(original: pd.DataFrame, twin: pd.DataFrame) -> tuple[list[list[str]], list[str]]:
    """Return a row for each format that can keep both, and a sentence for each other.

    A row has sizes in bytes, twin / original, and the format's place in both, the smallest first.
    """
    here, there = sizes(original), sizes(twin)
    refusals = {
        case: size for found in (there, here) for case, size in found.items() if isinstance(size, str)
    }
    held = [case for case in here if case not in refusals]
    one, other = (places({case: found[case] for case in held}) for found in (here, there))
    rows = []
    for case in held:
        before, after = int(here[case]), int(there[case])
        cells = [f"{before:,}", f"{after:,}", f"{after / before:.2f}", f"{one[case]} / {other[case]}"]
        rows.append([str(case), *cells])
    return rows, list(dict.fromkeys(refusals.values()))


def _measured(df: pd.DataFrame, name: str) -> Measures | None:
    """Return a column's statistics; None for lists and records."""
    column = as_arrow(name, df[name])
    return measure(plain(column)) if type_properties(column.type) else None
