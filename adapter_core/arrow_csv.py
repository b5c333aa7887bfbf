"""What the CSV engines that take Arrow's columns have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from adapter_core.data_format import DataFormat, Feature
from adapter_core.text_tables import REFUSES, beyond_int64, is_all_like
from adapter_core.traits import Trait
from adapter_core.values import text_columns

if TYPE_CHECKING:
    import pandas as pd

DECIMAL = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(?i:inf|infinity|nan)"
"""Numbers as most readers take them, for `ArrowCSV.numbers`."""


class ArrowCSV(DataFormat):
    """CSV whose reader guesses types: columns of text that it would take for others are refused.

    Small integers and floats come back as 64-bit ones; dates and categories as text.
    """

    suffix = ".csv"
    suite = "engines"
    traits: ClassVar = frozenset(
        {Trait.SAFE, Trait.PORTABLE, Trait.TEXT, Trait.APPEND, Trait.SINGLE_FILE}
    )
    supports: ClassVar = frozenset({Feature.COLUMNS})
    detects_truncation = False
    refuses: ClassVar = REFUSES
    numbers: ClassVar[str] = DECIMAL
    """What the reader takes for numbers, as a pattern for `is_all_like`."""
    booleans: ClassVar[str]
    """What the reader takes for booleans."""

    def _check_values(self, df: pd.DataFrame) -> None:
        name = beyond_int64(df)
        if name is not None:
            raise self.refusal(f"column {name!r} holds integers beyond 2**63 - 1, read as floats")
        for name, text in text_columns(df):
            if is_all_like(text, self.numbers) or is_all_like(text, self.booleans):
                raise self.refusal(f"the text of column {name!r} would be read as numbers or booleans")
