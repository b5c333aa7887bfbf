"""Request of a plan: the mix, the data, the stores and the budget."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from adapter_core.errors import InvalidFolderError
from format_bench.families.operations import registry_of
from format_bench.planning.measured import Form
from format_bench.planning.planner import Planner
from format_bench.results.display.text import plural
from format_bench.results.suites import FAMILIES
from format_bench.runner.user_data import Source

QUERY_TIME = "query time"

# Designed layouts of a store that are verified: the fastest ones. Where the model errs, the best that
# was read is still among the verified.
DESIGNED_KEPT = 2

Watch = Callable[[str], None]
"""Receiver of sentences on the progress."""


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
