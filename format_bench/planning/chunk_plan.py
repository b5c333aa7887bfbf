"""Plan of a store and chunks for a mix of queries: fitted, proposed and measured."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from format_bench.instruments.intervals import Interval, median_interval
from format_bench.planning.reads import by

if TYPE_CHECKING:
    from adapter_core.array_description import Description
    from format_bench.planning.chunk_search import Proposal
    from format_bench.planning.cost_model import CostModel, ReadSample
    from format_bench.planning.mix import Mix
    from format_bench.planning.reads import Layout

KINDS = PROPOSED, DESIGNED, SOURCE, LIBRARY = (
    "proposed",
    "designed",
    "chunks of the source",
    "the library's own chunks",
)
"""Kinds of verified layouts: by the search, best of those that the model is fitted to, and defaults."""


@dataclass
class Verified:
    """A layout that was measured in turns, with its prediction."""

    layout: Layout
    """With chunks that are cut at the sample's edges."""
    chunks: tuple[int, ...]
    """Chunks of the whole array."""
    kinds: list[str]
    """Reasons for its choice, of `KINDS`."""
    chunks_number: int
    """Number of the whole array's chunks."""
    predicted: float | None
    """Predicted mean time of the mix on the sample, in seconds; None without a model that fits."""
    predicted_queries: list[float]
    """Predicted times of its queries; empty without such a model."""
    predicted_whole: float | None
    """The same on the whole array."""
    save_seconds: float = 0.0
    size_bytes: int = 0
    files: int = 0
    costs: dict[int, float] = field(default_factory=dict)
    """Measured mean time of the mix by turn, in seconds."""
    query_seconds: list[list[float]] = field(default_factory=list)
    """Measured times of each query, one for each turn."""
    failure: str = ""

    @property
    def name(self) -> str:
        """Store and chunks of the whole array as text."""
        return f"{self.layout.store} {by(self.chunks)}"

    @property
    def seconds(self) -> float:
        """Median of the measured mean times of the mix."""
        return statistics.median(self.costs.values())

    @property
    def interval(self) -> Interval:
        """Interval of that median."""
        return median_interval(list(self.costs.values()))


@dataclass
class StorePlan:
    """Facts on a store."""

    label: str
    codec: str | None = None
    level: int | None = None
    samples: list[ReadSample] = field(default_factory=list)
    mix_costs: dict[tuple[int, ...], float] = field(default_factory=dict)
    """Measured mean time of the mix by designed shape."""
    model: CostModel | None = None
    front: list[Proposal] = field(default_factory=list)
    """Pareto front of predicted time and number of chunks."""
    verified: list[Verified] = field(default_factory=list)
    failure: str = ""
    """Reason why the store is not compared."""

    @property
    def usable_model(self) -> CostModel | None:
        """The model, if it fits."""
        return self.model if self.model and self.model.fits else None


@dataclass(frozen=True)
class ChunkPlan:
    """Outcome of a planning session."""

    array: Description
    sample: Description
    mix: Mix
    stores: list[StorePlan]
    cold: bool
    codec: str | None
    level: int | None
    turns: int
    seconds: float
    """Wall time of the session."""
    load: float
    """Processes that ran or waited for a CPU in the last minute, on average, at the end."""

    @property
    def ranked(self) -> list[Verified]:
        """The verified layouts, the fastest first."""
        found = [each for store in self.stores for each in store.verified if each.costs]
        return sorted(found, key=lambda each: each.seconds)
