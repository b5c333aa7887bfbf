"""Losses in round trips, for the contract tests and for pages of the manual.

The tests of values compare both, so that one walk over all data proves the contract and the pages.
"""

from __future__ import annotations

import functools
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import data_formats
import data_generator
from adapter_core import CannotHoldError, DataFormat, UnavailableError
from data_generator.synthetic.edge_case_tables import (
    edge_case_tables,
    geometry_tables,
    uncompared_tables,
)
from format_bench.verification.tables import verify

if TYPE_CHECKING:
    import pandas as pd


TABLE_PAGE, IMAGE_PAGE = "losses.md", "image_losses.md"

ROWS = 1_000
TABLES = ("eq", "int", "float", "bool", "str", "webface", "core", "flights")
"""Generated and real tables of the page."""

Outcomes = dict[str, dict[str, str]]
"""Outcomes of round trips by the name of the data, and by the label of the adapter."""


class RoundTrip(NamedTuple):
    """Result of saving and reading data."""

    text: str
    """"exact", the refusal or the losses, as pages have them."""
    refusal: str = ""
    """The whole message, if the adapter refused the data."""
    errors: tuple[str, ...] = ()
    read: Any = None
    """Table that came back; None after a refusal."""


def of_table(adapter: DataFormat, df: pd.DataFrame, path: Path) -> RoundTrip:
    """Save and read a table."""
    try:
        adapter.save(df, path)
    except CannotHoldError as error:
        return RoundTrip(f"refused: {str(error).partition(': ')[2]}", str(error))
    read = adapter.read(path)
    found = verify(df, read, *adapter.kept)
    text = f"**wrong**: {'; '.join(found.errors)}" if found.errors else "; ".join(found.losses)
    return RoundTrip(text or "exact", errors=found.errors, read=read)


def of_format(label: str, names: Sequence[str]) -> dict[str, str]:
    """Return the outcomes of tables in a format, by name, as the page has them."""
    adapter, columns = data_formats.find(label), column_tables()
    found = {}
    for name in names:
        try:
            df = table(name) if name in TABLES else columns[name]
        except UnavailableError as error:
            found[name] = f"unavailable: {error.reason}"
            continue
        with tempfile.TemporaryDirectory() as folder:
            found[name] = shown(name, of_table(adapter, df, Path(folder, f"table{adapter.suffix}")).text)
    return found


@functools.cache
def column_tables() -> dict[str, pd.DataFrame]:
    """Return the tables of the page that have one column each, beside a plain one."""
    return edge_case_tables() | uncompared_tables() | geometry_tables()


@functools.cache
def table(name: str) -> pd.DataFrame:
    """Return one of `TABLES`."""
    return data_generator.table(name, rows=ROWS).df


def shown(name: str, text: str) -> str:
    """Return an outcome of a table as the page has it.

    Losses of `TABLES` are counted by their kinds; other tables have one column, whose name would only
    repeat.
    """
    if name not in TABLES:
        return re.sub(r"column (c|geometry): |column '(c|geometry)' ", "", text)
    kinds: dict[str, int] = {}
    for loss in text.split("; "):
        kind = loss.partition(": ")[2] if loss.startswith("column ") else loss
        kinds[kind] = kinds.get(kind, 0) + 1
    return "; ".join(kind if number == 1 else f"{number} x {kind}" for kind, number in kinds.items())


@functools.cache
def documented(page: str) -> Outcomes:
    """Return the outcomes on a page of the manual; none where the package is installed without it."""
    path = Path(__file__).parents[2] / "docs" / page
    if not path.is_file():
        return {}
    found: Outcomes = {}
    header, name = [""], ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("| ") and not line.startswith("| --"):
            label, *texts = line.strip("| ").split(" | ")
            if label in {"format", "storages"}:
                header = texts
            elif page == IMAGE_PAGE:
                # Storages that lose nothing have no entry of their own.
                found.setdefault("", {}).update(dict.fromkeys(label.split(", "), ""))
            elif header == [*TABLES]:
                for each, text in zip(header, texts, strict=True):
                    found.setdefault(each, {})[label] = text.replace("\\|", "|")
        elif line.startswith("### "):
            name = line.removeprefix("### ")
        elif name and line.startswith("- "):
            labels, _, text = line.removeprefix("- ").partition(": ")
            found.setdefault(name, {}).update(dict.fromkeys(labels.split(", "), text))
    return found


def documented_of(page: str, name: str, label: str) -> str | None:
    """Return the outcome of data with an adapter on a page; None if the page has no such adapter."""
    found = documented(page)
    if name not in found or label not in {each for of_data in found.values() for each in of_data}:
        return None
    of_data = found[name]
    return of_data.get(label) or of_data.get("all others") or of_data.get("all")
