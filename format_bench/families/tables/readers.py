"""Readers of a saved table: all adapters of its format in this environment, each judged."""

from __future__ import annotations

import math
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import data_formats
from format_bench.compatibility.files import read_by
from format_bench.compatibility.verdicts import Judgement, Verdict, judge
from format_bench.families.operations import Measured
from format_bench.instruments import isolation
from format_bench.instruments.isolation import Outcome
from format_bench.verification.canonical import CanonicalTable

if TYPE_CHECKING:
    import pandas as pd

    from adapter_core import DataFormat

LIMIT_SECONDS = 60.0
"""Time after which a reader hangs: a hundred times what usual ones need for the largest table."""

_ALIKE = {Verdict.SAME, Verdict.RETYPED, Verdict.UNTRIED}
"""Verdicts that are no objection to a file: types may differ, if the values do not."""


def count_unlike_readers(adapter: DataFormat, df: pd.DataFrame, file: Path) -> Measured:
    """Return the number of readers that refuse a file, or give other values, with their verdicts.

    Parameters
    ----------
    adapter : DataFormat
        The writer.
    df : pandas.DataFrame
        The table that it saved, shape (rows, columns).
    file : Path
        Its file.
    """
    labels = [each for each in data_formats.names() if data_formats.find(each).suffix == adapter.suffix]
    saved = CanonicalTable.of_frame(df)
    found = {label: judge(saved, outcome) for label, outcome in _outcomes(labels, file).items()}
    unlike = {label: each for label, each in found.items() if each.verdict not in _ALIKE}
    read = [label for label, each in found.items() if each.verdict is not Verdict.UNTRIED]
    return Measured("unlike readers", [len(unlike)], _remark(unlike) or f"read by {', '.join(read)}")


def _remark(unlike: dict[str, Judgement]) -> str:
    return "; ".join(f"{label}: {each.sentence}" for label, each in unlike.items())[:500]


def _outcomes(labels: Sequence[str], file: Path) -> dict[str, Outcome]:
    """Return the outcome of each reader; they share a process until one ends it."""
    # This process may be a fork, which cannot start the server of forks again.
    own = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "TMPDIR": tempfile.gettempdir()}
    found: dict[str, Outcome] = {}
    left = list(labels)
    while left:
        whole = isolation.run(
            *(read_by, left, str(file.resolve()), LIMIT_SECONDS),
            limit_seconds=math.inf,
            environment=own,
            interpreter=sys.executable,
        )
        found |= dict(whole.yielded)
        left = left[len(whole.yielded) :]
        if left and whole.status:
            found[left.pop(0)] = whole
    return found
