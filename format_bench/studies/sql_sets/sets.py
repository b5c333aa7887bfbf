"""Query sets: their statements, and the tables that they are about."""

from __future__ import annotations

import subprocess
import sysconfig
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core.errors import UnavailableError, UnknownNameError
from data_generator.synthetic.visits import rows_of_visits

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

NAMES = ("tpch", "visits")
"""Names of the query sets."""

SEED = 1

_BLOCK_ROWS = 250_000

_GENERATOR = "tpchgen-cli"


@dataclass(frozen=True)
class QuerySet:
    """Queries in SQL to the same tables."""

    name: str
    title: str
    tables: tuple[str, ...]
    words: Mapping[str, str]
    """What each query asks, by its name."""
    statements: Mapping[str, str]
    """Statements by the names of queries, with placeholders for constants."""
    tuned: Mapping[str, Mapping[str, list[str]]]
    """Sort keys and lookup columns of tables on the track of tuned files, as `sort_by` and `lookups`."""


@cache
def query_set(name: str) -> QuerySet:
    """Return a query set.

    Raises
    ------
    UnknownNameError
        If there is none of that name.
    """
    if name not in NAMES:
        raise UnknownNameError("query set", name, NAMES)
    text = (files(__package__) / f"{name}.toml").read_text(encoding="utf-8")
    found = tomllib.loads(text)
    queries = found["queries"]
    return QuerySet(
        name,
        found["title"],
        tuple(found["tables"]),
        {each["name"]: each["words"] for each in queries},
        {each["name"]: each["sql"].strip() for each in queries},
        found["tuned"],
    )


def tables(name: str, scale: float, folder: Path) -> dict[str, pd.DataFrame]:
    """Return the tables of a query set.

    Parameters
    ----------
    name : str
        The query set.
    scale : float
        Scale factor of TPC-H; millions of visits.
    folder : Path
        Folder for files of a generator.

    Raises
    ------
    UnavailableError
        If the generator of TPC-H is not installed, or fails.
    """
    if name == "tpch":
        return _tpch(scale, folder)
    import pandas as pd

    rows = max(1, round(scale * 1_000_000))
    blocks = range(0, rows, _BLOCK_ROWS)
    parts = [rows_of_visits(at, min(at + _BLOCK_ROWS, rows), rows, SEED) for at in blocks]
    return {"visits": pd.concat(parts, ignore_index=True)}


def _tpch(scale: float, folder: Path) -> dict[str, pd.DataFrame]:
    """Return TPC-H's tables, of the generator tpchgen-cli, which has the values of TPC's dbgen."""
    import pyarrow.parquet as pq

    program = Path(sysconfig.get_path("scripts"), _GENERATOR)
    hint = "pip install tpchgen-cli"
    if not program.exists():
        raise UnavailableError("TPC-H", f"{_GENERATOR} is not installed", hint)
    done = subprocess.run(  # noqa: S603 (a program of the environment)
        [program, "parquet", "-s", f"{scale:g}", "--output-dir", folder],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise UnavailableError("TPC-H", done.stderr.strip().splitlines()[-1], hint)
    names = query_set("tpch").tables
    return {name: _plain(pq.read_table(folder / f"{name}.parquet")).to_pandas() for name in names}


def _plain(table: pa.Table) -> pa.Table:
    """Return a table with floats for decimals and datetimes for dates, which most formats have."""
    import pyarrow as pa

    for place, field in enumerate(table.schema):
        wanted = field.type
        if pa.types.is_decimal(wanted):
            wanted = pa.float64()
        elif pa.types.is_date(wanted):
            wanted = pa.timestamp("ms")
        if wanted != field.type:
            table = table.set_column(place, field.name, table.column(place).cast(wanted))
    return table


def constants(name: str, scale: float, data: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """Return the constants of a set's statements, by their placeholders."""
    if name == "tpch":
        return {"fraction": f"{0.0001 / scale:.12f}"}
    visits = data["visits"]
    return {
        "visitor": str(visits["visitor"].iloc[len(visits) // 2]),
        "many": str(len(visits) // 1_000),
        "sums": ", ".join(f"sum(width + {number}) AS s{number}" for number in range(90)),
    }


def filled(statement: str, values: Mapping[str, str]) -> str:
    """Return a statement with its constants."""
    for name, value in values.items():
        statement = statement.replace(f"{{{name}}}", value)
    return statement
