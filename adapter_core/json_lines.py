"""What the JSON engines that take Arrow's columns have in common."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core.data_format import DataFormat
from adapter_core.text_tables import REFUSES, beyond_int64
from adapter_core.traits import Trait
from adapter_core.values import infinite_floats

if TYPE_CHECKING:
    import pandas as pd


class JSONLines(DataFormat):
    """One JSON object a line, as the objects of https://jsonlines.org.

    JSON knows numbers, text, booleans and null alone: small integers and floats come back as 64-bit
    ones; dates and categories as text.
    """

    suffix = ".jsonl"
    suite = "engines"
    traits: ClassVar = frozenset(
        {Trait.SAFE, Trait.PORTABLE, Trait.TEXT, Trait.APPEND, Trait.SINGLE_FILE}
    )
    holds_zero_rows = False
    detects_truncation = False
    refuses: ClassVar = REFUSES

    def _check_values(self, df: pd.DataFrame) -> None:
        name = infinite_floats(df)
        if name is not None:
            raise self.refusal(f"column {name!r} holds an infinite value; JSON has none")
        name = beyond_int64(df)
        if name is not None:
            raise self.refusal(f"column {name!r} holds integers beyond 2**63 - 1, which are not read so")

    def _column_names(self, path: Path) -> list[str]:
        """Return the names of the first line; readers put columns in an order of their own at times."""
        with path.open("rb") as file:
            return list(json.loads(file.readline()))
