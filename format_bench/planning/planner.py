"""Contract of planners, with the request of a plan and the layouts that it chooses and measures.

The session, the cells and the display of a plan know layouts by a planner alone. `chunks` has the one of
arrays, `layouts` of tables.
"""

from __future__ import annotations

import shutil
import statistics
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from adapter_core import BaseAdapter
from adapter_core.errors import InvalidFolderError
from format_bench.families.operations import registry_of
from format_bench.families.questions import Questions
from format_bench.instruments.intervals import Interval, median_interval
from format_bench.planning.cost_model import CostModel, ReadSample
from format_bench.planning.mix import Mix, Weighted
from format_bench.results.conditions import Conditions
from format_bench.results.display.text import plural
from format_bench.results.suites import FAMILIES
from format_bench.runner.user_data import Source

Form = Any
"""Addition of a layout to a store and its codec: the shape of chunks, or a `TableLayout`; hashable."""

PROPOSED, DESIGNED, GIVEN = "proposed", "designed", "given"
"""Kinds of verified layouts: by the search, the best ones that the model is fitted to, by request."""

QUERY_TIME = "query time"

# Designed layouts of a store that are verified: the fastest ones. Where the model errs, the best that
# was read is still among the verified.
DESIGNED_KEPT = 2

Watch = Callable[[str], None]
"""Receiver of sentences on the progress."""


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
    """The same on the whole data; None also where that cannot be predicted."""
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


class Planner(ABC):
    """The sample of one array or table, and a mix of queries to it."""

    family: ClassVar[str]
    suite: ClassVar[str]
    """Suite whose cells are measured."""
    stores: ClassVar[tuple[str, ...]]
    """Labels that are compared unless others are named."""
    defaults: ClassVar[tuple[str, ...]]
    """Kinds of layouts that gains are over."""
    title: ClassVar[str]
    """Title of a page."""
    noun: ClassVar[str]
    """Noun for a choice, e.g. "chunk shape"."""
    proposals_kept: ClassVar[int]
    """Most proposals of a store that are verified."""
    refined_kept: ClassVar[int] = 0
    """Most further proposals, by a model that is fitted to the first turn too."""
    predicts_whole: ClassVar[bool]
    """Whether times on the whole data can be predicted, of which a sample is measured."""

    name: str
    """Name of the sample, in records."""
    path: Path
    """The sample, as the family has stored it."""
    rows: int
    """In records."""
    columns: int
    mix: Mix
    """Queries to the sample."""
    opens_apart: bool
    """Whether opening is a metric of its own that is added to warm times."""

    @abstractmethod
    def check(self, label: str) -> BaseAdapter:
        """Return a store that can be planned; raise `FormatBenchError` with the reason if it cannot."""

    @abstractmethod
    def conditions(self, form: Form) -> Conditions:
        """Return the conditions of a case in a layout."""

    @abstractmethod
    def form_of(self, conditions: Mapping[str, str]) -> Form | None:
        """Return the layout of a record's conditions; None if they name none."""

    @abstractmethod
    def questions(self, queries: Sequence[Weighted], key: Iterable[int]) -> Questions:
        """Return queries as questions at places that depend on a key, if they are random."""

    @abstractmethod
    def fit_queries(self) -> Sequence[Weighted]:
        """Return the queries of the mix, and further ones that separate the terms of a model."""

    @abstractmethod
    def place_of(self, form: Form) -> tuple[int, ...]:
        """Return the key of the places at which the model's reads of a layout are."""

    @abstractmethod
    def designed(self, store: StorePlan) -> list[Form]:
        """Return layouts of a store that differ in kind, to fit a model to."""

    @abstractmethod
    def terms(self) -> tuple[str, ...]:
        """Return the names of the model's terms."""

    @abstractmethod
    def amounts(
        self, query: Weighted, form: Form, *, whole: bool = False, is_fit: bool = False
    ) -> Sequence[float]:
        """Return the work of a query: on the sample, or else the whole; of a fit at its own places."""

    @abstractmethod
    def proposals(self, store: StorePlan) -> list[Form]:
        """Return the best layouts of a store by its model, of the whole; note its Pareto front."""

    @abstractmethod
    def usual(self, store: StorePlan) -> list[tuple[Form, str]]:
        """Return the defaults that a store is compared with, each with its kind."""

    @abstractmethod
    def cut(self, form: Form) -> Form:
        """Return a layout of the whole as the sample has it."""

    @abstractmethod
    def parts(self, form: Form) -> int:
        """Return the number of chunks, or row groups, of the whole."""

    @abstractmethod
    def words(self, form: Form) -> str:
        """Return a layout in words, after a store's name."""

    @abstractmethod
    def brief(self, form: Form) -> str:
        """Return the same for tables and lists, as short as it is distinct from others."""

    @abstractmethod
    def lead(self) -> str:
        """Return the data and the number of queries in words."""

    @abstractmethod
    def on_sample(self, ranked: Sequence[Verified]) -> Iterable[str]:
        """Yield sentences on the sample, for layouts from the best one on."""

    @abstractmethod
    def cells(self, each: Verified) -> dict[str, str]:
        """Return columns of a table on a verified layout by their headings."""

    @abstractmethod
    def extents(self, query: Weighted) -> str:
        """Return the extent of a query in words."""

    def code(self, layout: Layout) -> str:  # noqa: ARG002 (of tables)
        """Return Python that writes the data in a layout; empty if there is none."""
        return ""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Return the facts of the data and the mix as JSON values."""

    @abstractmethod
    def form_json(self, form: Form) -> dict[str, Any]:
        """Return a layout as JSON values."""


@dataclass(frozen=True)
class PlanRequest:
    """A plan as the user asks for it."""

    mix: Path
    data: Source | None = None
    """A user's file."""
    dataset: str | None = None
    """A named data set in its place."""
    size: int | None = None
    """Rows of the data set, or chunks; all if None."""
    stores: tuple[str, ...] = ()
    codec: str | None = None
    level: int | None = None
    cold: bool = False
    budget_seconds: float = 120
    sample_bytes: float | None = None
    scratch: Path | None = None
    out: Path | None = None
    """Folder of the results; by default one below reports, after the data."""
    fresh: bool = False
    """Drop earlier results."""

    metric: str = QUERY_TIME
    """The time of a query that counts."""
    given: tuple[Form, ...] = ()
    """Further layouts that are verified beside the proposed ones."""

    @property
    def name(self) -> str:
        """Name of the data."""
        return Path(self.data.path.partition("::")[0]).stem if self.data else self.dataset or ""

    @property
    def results_folder(self) -> Path:
        """The folder of the results."""
        return self.out or Path("reports", f"plan-{self.name}")

    def labels(self, planner: type[Planner]) -> list[str]:
        """Return the stores to compare.

        Raises
        ------
        UnknownNameError
            If there is none of a wanted name.
        """
        registry = registry_of(FAMILIES[planner.family])
        known = registry.names()
        for label in self.stores:
            registry.find(label)
        return list(dict.fromkeys(self.stores)) or [each for each in planner.stores if each in known]

    def check_room(self, folder: Path, sample_bytes: int, planner: type[Planner]) -> None:
        """Raise `InvalidFolderError` if a folder has no room for the sample and all verified files."""
        stores = len(self.labels(planner))
        kept = planner.proposals_kept + planner.refined_kept + DESIGNED_KEPT + len(planner.defaults)
        needed = sample_bytes * (1 + kept * stores)
        free = shutil.disk_usage(folder).free
        if needed > free:
            raise InvalidFolderError(
                f"{folder.parent} has {free / 1e9:,.1f} GB left, and {plural(stores, 'store')} with a "
                f"sample of {sample_bytes / 1e6:,.0f} MB may need {needed / 1e9:,.1f} GB; choose a "
                "smaller --sample-size, fewer --stores or another --scratch"
            )
