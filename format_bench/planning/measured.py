"""Layouts of stores: as they are chosen, predicted and measured."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from format_bench.instruments.intervals import Interval, median_interval
from format_bench.planning.cost_model import CostModel, ReadSample

Form = Any
"""Addition of a layout to a store and its codec: the shape of chunks, or a `TableLayout`; hashable."""

PROPOSED, DESIGNED, GIVEN = "proposed", "designed", "given"
"""Kinds of verified layouts: by the search, the best ones that the model is fitted to, by request."""


class Layout(NamedTuple):
    """A store, its codec, and a form: a shape of chunks, or the layout of a table."""

    store: str
    codec: str | None
    level: int | None
    form: Form


@dataclass
class Verified:
    """A layout that was measured in turns, with its prediction."""

    layout: Layout
    """As the sample has it: chunks are cut at its edges."""
    name: str
    """Store and layout of the whole in words."""
    form: Form
    """Form of the whole."""
    kinds: list[str]
    """Reasons for its choice."""
    parts: int
    """Number of chunks, or row groups, of the whole."""
    predicted: float | None = None
    """Predicted mean time of the mix on the sample, in seconds; None without a model that fits."""
    predicted_queries: list[float] = field(default_factory=list)
    """Predicted times of its queries; empty without such a model."""
    predicted_whole: float | None = None
    """The same on the whole data."""
    save_seconds: float = 0.0
    size_bytes: int = 0
    files: int = 0
    open_seconds: float = 0.0
    """Time of opening within the time of each query; 0 if none is."""
    costs: list[float] = field(default_factory=list)
    """Measured mean time of the mix in each turn, in seconds."""
    query_seconds: list[list[float]] = field(default_factory=list)
    """Measured times of each query, one for each turn."""
    failure: str = ""

    @property
    def seconds(self) -> float:
        """Median of the measured mean times of the mix."""
        return statistics.median(self.costs)

    @property
    def interval(self) -> Interval:
        """Interval of that median."""
        return median_interval(self.costs)


@dataclass
class StorePlan:
    """Facts on a store."""

    label: str
    codec: str | None = None
    level: int | None = None
    samples: list[ReadSample] = field(default_factory=list)
    mix_costs: dict[Form, float] = field(default_factory=dict)
    """Measured mean time of the mix by designed form."""
    model: CostModel | None = None
    front: list[tuple[Form, float, int]] = field(default_factory=list)
    """Pareto front of predicted time and number of parts."""
    verified: list[Verified] = field(default_factory=list)
    failure: str = ""
    """Reason why the store is not compared."""

    @property
    def usable_model(self) -> CostModel | None:
        """The model, if it fits."""
        return self.model if self.model and self.model.fits else None

    @property
    def best(self) -> Verified | None:
        """The fastest layout."""
        measured = (each for each in self.verified if each.costs)
        return min(measured, key=lambda each: each.seconds, default=None)
