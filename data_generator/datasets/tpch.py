"""The eight tables of TPC-H: ``tpch``, by the generator tpchgen-cli, with the values of TPC's dbgen."""

from __future__ import annotations

import subprocess
import sysconfig
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core.errors import UnavailableError
from data_generator.dataset import Dataset, DatasetDefinition

if TYPE_CHECKING:
    import pyarrow as pa

NAME = "tpch"

TABLES = ("lineitem", "customer", "nation", "orders", "part", "partsupp", "region", "supplier")
"""The tables; the first has the rows that a size is about."""

# Rows of lineitem at scale factor 1, but for a thousandth: an order has 1 to 7 of them.
ROWS = 6_000_000

# The generator fails where a table would have no row: lineitem has 600 times the rows of supplier.
LEAST_ROWS = 1_000

_GENERATOR = "tpchgen-cli"


def _make(rows: int, seed: int) -> Dataset:
    """Return the tables at the scale factor with about so many rows of lineitem; seeds are TPC's own."""
    import pyarrow.parquet as pq

    del seed
    program = Path(sysconfig.get_path("scripts"), _GENERATOR)
    hint = f"pip install {_GENERATOR}"
    if not program.exists():
        raise UnavailableError("TPC-H", f"{_GENERATOR} is not installed", hint)
    if rows < LEAST_ROWS:
        raise UnavailableError("TPC-H", f"{_GENERATOR} makes no {rows:,} rows", f"take {LEAST_ROWS:,}")
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(  # noqa: S603 (a program of the environment)
            [program, "parquet", "-s", f"{rows / ROWS:.9f}", "--output-dir", folder],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            reason = done.stderr.strip().splitlines()[-1:] or ["it failed"]
            raise UnavailableError("TPC-H", f"{_GENERATOR}: {reason[0]}", hint)
        read = {name: pq.read_table(Path(folder, f"{name}.parquet")) for name in TABLES}
        return Dataset(NAME, tables={name: _plain(each).to_pandas() for name, each in read.items()})


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


DATASETS = (
    DatasetDefinition(
        name=NAME,
        family="queries",
        description="the 8 tables of TPC-H; rows are those of lineitem, 6,000,000 at scale factor 1",
        make=_make,
        default_count=ROWS,
        requires=(_GENERATOR,),
    ),
)
