"""Settings cards of table formats beside their files, and tables saved with the makers' advice."""

from __future__ import annotations

import numpy as np
import pandas as pd

from format_bench.conformance.cards import differences, settings_of
from format_bench.conformance.tables import ordinary, repetitive
from format_bench.verification.tables import verify

FEW_ROWS = 1_000
MANY_ROWS = 300_000
"""More rows than the row groups of some libraries have."""


def table(rows: int) -> pd.DataFrame:
    """Return integers, floats, and text of a hundred values, shape (rows, 3)."""
    numbers = np.arange(rows)
    words = pd.Series(numbers % 100).map("w{}".format).astype("str")
    return pd.DataFrame({"whole": numbers, "real": numbers / 8, "word": words})


def test_a_file_tells_what_the_card_says(adapter, path):
    counts_rows = any(isinstance(each, int) for each in adapter.file_facts.parts.values())
    rows = MANY_ROWS if counts_rows else FEW_ROWS
    for name, chosen in settings_of(adapter):
        chosen.adapter.save(table(rows), path, chosen.codec, chosen.level)
        assert differences(adapter, name, path, rows) == "", name or "usual settings"


def test_tables_come_back_from_all_settings(adapter, path):
    for df in (ordinary(), repetitive()):
        found = []
        for _, chosen in settings_of(adapter):
            chosen.adapter.save(df, path, chosen.codec, chosen.level)
            found.append(verify(df, adapter.read(path), *adapter.kept))
        assert found[0].errors == ()
        assert all(each == found[0] for each in found)
