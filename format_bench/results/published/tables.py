"""Tables of published figures, as CSV files beside this one."""

from __future__ import annotations

import csv
from importlib import resources


def rows_of(name: str) -> list[dict[str, str]]:
    """Return the rows of a table by the name of its file without the ending."""
    text = resources.files(__package__).joinpath(f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
