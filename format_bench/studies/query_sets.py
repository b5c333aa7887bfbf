"""Study of query sets: TPC-H and questions of web analytics, by engines of SQL on several formats."""

from __future__ import annotations

from pathlib import Path

import click

from format_bench.results.study_rows import read
from format_bench.studies.declared.rows import kept
from format_bench.studies.sql_sets import trials
from format_bench.studies.sql_sets.page import page
from format_bench.studies.sql_sets.sets import NAMES
from format_bench.studies.sql_sets.trials import FORM, QuerySetResult

FORMATS = "Parquet,DuckDB,Vortex,Feather,ORC,Lance"
ENGINES = "duckdb,datafusion,polars"


@click.command
@click.option("--sets", "names", default=",".join(NAMES), show_default=True, help="Query sets.")
@click.option(
    "--scale",
    type=click.FloatRange(0, min_open=True),
    default=0.1,
    show_default=True,
    help="Scale factor of TPC-H; millions of visits.",
)
@click.option("--formats", default=FORMATS, show_default=True, help="Table formats.")
@click.option("--engines", default=ENGINES, show_default=True, help="Engines of SQL.")
@click.option("--tracks", default=",".join(trials.TRACKS), show_default=True, help="Written files.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder of the results.")
@click.option(
    "--page",
    "shown",
    type=click.Path(exists=True, path_type=Path),
    multiple=True,
    help="Print the page of results of --out, and measure nothing; several times to join them.",
)
def command(  # noqa: PLR0913, PLR0917 (one parameter for each option)
    names: str,
    scale: float,
    formats: str,
    engines: str,
    tracks: str,
    out: Path | None,
    shown: tuple[Path, ...],
) -> None:
    """Ask whole sets of SQL queries: the 22 of TPC-H, and 43 of web analytics.

    The tables are generated, and saved by each format, as its library writes unasked and tuned for
    queries. DuckDB, DataFusion and Polars answer the same statements from the formats that they read.
    Prints a Markdown page: CPU times, ranking, what tuning is worth, and the published sums of
    ClickBench. Answers are compared.

    \b
    Examples:
      format-bench study query-sets --out reports/sets > docs/query_sets.md
      format-bench study query-sets --sets tpch --scale 1 --formats Parquet --tracks defaults
      format-bench study query-sets --page reports/sets
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    results: list[QuerySetResult] = []
    if shown:
        for each in shown:
            results += read(FORM, each)
        click.echo(page(results), nl=False)
        return
    chosen = [each for each in tracks.split(",") if each]
    for track in chosen:
        if track not in trials.TRACKS:
            raise click.BadParameter(f"there is no track {track!r}", param_hint="--tracks")
    readers = [trials.engine_of_sql(each).label for each in engines.split(",") if each]
    labels = [each for each in formats.split(",") if each]
    measured = (
        result
        for name in filter(None, names.split(","))
        for result in trials.measure(name, scale, labels, readers, chosen)
    )
    for result in kept(FORM, out, measured):
        results.append(result)
        if len(results) == 1 or result.pair != results[-2].pair:
            click.echo(f"{result.query_set}: {result.pair}", err=True)
    click.echo(page(results), nl=False)
