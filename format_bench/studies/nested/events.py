"""Decays to three kaons as flat columns and as lists of records, and two questions to them.

The questions of J. Blomer (A quantitative review of data formats for HEP analyses, ACAT 2017):
*whole* adds up 18 fields of the events without a muon, which 3 flags mark; *sparse* adds up ``PX`` of
the first kaon where that is not a muon.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from adapter_core.errors import WrongValuesError
from data_generator.datasets.kaons import KAON_FIELDS, flat_rows
from data_generator.synthetic.kaon_candidates import CANDIDATE_FLOATS, TRACKS

if TYPE_CHECKING:
    import numpy as np

Question = Literal["whole", "sparse"]
QUESTIONS: tuple[Question, ...] = ("whole", "sparse")

# Any seed; it stays, so that pages of different days are of the same events.
SEED = 1

SUMMED = ("PX", "PY", "PZ", "ProbK", "ProbPi", "Charge")
"""Fields of each kaon that *whole* adds up."""

FIELDS: Mapping[Question, tuple[str, ...]] = {
    "whole": (*SUMMED, "isMuon"),
    "sparse": ("PX", "isMuon"),
}
"""Fields of a kaon that a question needs."""

COLUMNS: Mapping[Question, tuple[str, ...]] = {
    "whole": tuple(f"H{track}_{name}" for track in range(1, TRACKS + 1) for name in FIELDS["whole"]),
    "sparse": tuple(f"H1_{name}" for name in FIELDS["sparse"]),
}
"""Flat columns that a question needs: 21 and 2."""

# Error of a sum, relative to the sum of the absolute values: libraries add in different orders. The
# bound n x 2**-53 of a sum of n = 10**7 float64.
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Answer:
    """Number of selected events, and the sum over their values."""

    events: int = 0
    total: float = 0.0

    def __add__(self, other: Answer) -> Answer:
        return Answer(self.events + other.events, self.total + other.total)


@dataclass(frozen=True)
class KaonLists:
    """Kaons of some events: the values of each field, and the place of each event's first."""

    offsets: np.ndarray
    """Integers of shape (events + 1,), from 0 on."""
    fields: Mapping[str, np.ndarray]
    """Arrays of shape (kaons,) by name."""


@dataclass(frozen=True)
class Events:
    """Generated events: columns of ``kaons`` by name, each of shape (rows,)."""

    columns: Mapping[str, np.ndarray]

    @classmethod
    def generate(cls, rows: int) -> Events:
        """Return the first rows of the data set."""
        df = flat_rows(0, rows, SEED)
        return cls({name: df[name].to_numpy() for name in df.columns})

    @property
    def rows(self) -> int:
        """Number of events."""
        return len(next(iter(self.columns.values())))

    @property
    def candidates(self) -> dict[str, np.ndarray]:
        """Columns beside the kaons."""
        return {name: self.columns[name] for name in CANDIDATE_FLOATS}

    @cached_property
    def kaons(self) -> KaonLists:
        """The kaons as lists of three."""
        import numpy as np

        fields = {
            name: np.stack(
                [self.columns[f"H{track}_{name}"] for track in range(1, TRACKS + 1)], axis=1
            ).reshape(-1)
            for name in KAON_FIELDS
        }
        return KaonLists(np.arange(0, TRACKS * self.rows + 1, TRACKS), fields)

    def check(self, question: Question, answer: Answer) -> None:
        """Compare an answer with NumPy's.

        Raises
        ------
        WrongValuesError
            If the number of events differs, or the sum by more than `TOLERANCE`.
        """
        right = answer_of_columns(question, self.columns)
        magnitudes = {
            name: values if name.endswith("isMuon") else abs(values)
            for name, values in self.columns.items()
        }
        limit = TOLERANCE * answer_of_columns(question, magnitudes).total
        # A comparison with NaN is false.
        if answer.events != right.events or not abs(answer.total - right.total) <= limit:
            raise WrongValuesError(
                f"{question}: {answer.events:,} events with the sum {answer.total!r} instead of "
                f"{right.events:,} with {right.total!r}"
            )


def answer_of_columns(question: Question, columns: Mapping[str, np.ndarray]) -> Answer:
    """Return the answer of flat columns, at least those in `COLUMNS`."""
    if question == "sparse":
        selected = columns["H1_PX"][columns["H1_isMuon"] == 0]
        return Answer(len(selected), float(selected.sum()))
    flags = [columns[f"H{track}_isMuon"] for track in range(1, TRACKS + 1)]
    keep = (flags[0] | flags[1] | flags[2]) == 0
    names = [name for name in COLUMNS["whole"] if not name.endswith("isMuon")]
    return Answer(int(keep.sum()), math.fsum(float(columns[name][keep].sum()) for name in names))


def answer_of_lists(question: Question, kaons: KaonLists) -> Answer:
    """Return the answer of lists of kaons, none of them empty, of any length."""
    import numpy as np

    offsets, fields = kaons.offsets, kaons.fields
    if len(offsets) <= 1:
        return Answer()
    firsts = offsets[:-1]
    if question == "sparse":
        selected = fields["PX"][firsts][fields["isMuon"][firsts] == 0]
        return Answer(len(selected), float(selected.sum()))
    keep = np.bitwise_or.reduceat(fields["isMuon"], firsts) == 0
    kept = np.repeat(keep, np.diff(offsets))
    return Answer(int(keep.sum()), math.fsum(float(fields[name][kept].sum()) for name in SUMMED))
