"""Query sets: their statements, and the tables that they are about."""

from __future__ import annotations

import subprocess
import sysconfig
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core.errors import UnavailableError, UnknownNameError
from data_generator.synthetic.visits import rows_of_visits
from format_bench.families.questions import Questions

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

NAMES = ("tpch", "visits")
"""Names of the query sets."""

SEED = 1

_BLOCK_ROWS = 250_000

_GENERATOR = "tpchgen-cli"


def query_set(name: str) -> Questions:
    """Return a query set: statements of SQL, with placeholders for constants.

    Raises
    ------
    UnknownNameError
        If there is none of that name.
    """
    if name not in NAMES:
        raise UnknownNameError("query set", name, NAMES)
    file = f"{name}.toml"
    return Questions(((file, (files(__package__) / file).read_text(encoding="utf-8")),))


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


def statements(questions: Questions, values: Mapping[str, str]) -> dict[str, str]:
    """Return the statements of a set by name, with their constants."""
    found = {name: each.fields["sql"].strip() for name, each in questions.by_name.items()}
    for placeholder, value in values.items():
        found = {name: text.replace(f"{{{placeholder}}}", value) for name, text in found.items()}
    return found
