"""Tables that set a twin beside its original: properties of columns, and sizes in formats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from data_generator.profiling.measures import Measures, measure
from data_generator.profiling.profile import as_arrow
from data_generator.spec.arrow import plain, type_properties
from format_bench.studies.sizes import places, sizes

if TYPE_CHECKING:
    import pandas as pd


PROPERTIES = ("ndv_ratio", "null_ratio", "sortedness", "mean_run_length")


def property_rows(original: pd.DataFrame, twin: pd.DataFrame) -> list[list[str]]:
    """Return a row for each flat column: its name, its dtype, and each property here and there."""
    rows = []
    for name, of_twin in zip(original.columns, twin.columns, strict=True):
        pair = [_measured(df, column) for df, column in ((original, name), (twin, of_twin))]
        one, other = pair
        if one and other:
            cells = [f"{getattr(one, each):.2g} / {getattr(other, each):.2g}" for each in PROPERTIES]
            rows.append([str(of_twin), str(original[name].dtype), *cells])
    return rows


def size_rows(original: pd.DataFrame, twin: pd.DataFrame) -> tuple[list[list[str]], list[str]]:
    """Return a row for each format that can keep both, and a sentence for each other.

    A row has sizes in bytes, twin / original, and the format's place in both, the smallest first.
    """
    here, there = sizes(original), sizes(twin)
    refusals = {
        case: size for found in (there, here) for case, size in found.items() if isinstance(size, str)
    }
    held = [case for case in here if case not in refusals]
    one, other = (places({case: found[case] for case in held}) for found in (here, there))
    rows = []
    for case in held:
        before, after = int(here[case]), int(there[case])
        cells = [f"{before:,}", f"{after:,}", f"{after / before:.2f}", f"{one[case]} / {other[case]}"]
        rows.append([str(case), *cells])
    return rows, list(dict.fromkeys(refusals.values()))


def _measured(df: pd.DataFrame, name: str) -> Measures | None:
    """Return a column's statistics; None for lists and records."""
    column = as_arrow(name, df[name])
    return measure(plain(column)) if type_properties(column.type) else None
