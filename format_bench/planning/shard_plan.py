"""Plan of shards: how many files feed a model fastest, by a loader's trainings over the user's link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from adapter_core.errors import InvalidQuestionsError, NoCandidateError, UnsupportedError
from format_bench.families.operations import registry_of
from format_bench.instruments.clock import MIN_REPEATS
from format_bench.planning.mix import facts_of
from format_bench.planning.planner import PlanRequest
from format_bench.results.display.text import format_ratio, quantity
from format_bench.results.records import Record, key
from format_bench.results.suites import FAMILIES
from format_bench.runner import session
from format_bench.runner.plan import RunRequest
from format_bench.runner.result_store import keys
from format_bench.runner.runner import Limits

if TYPE_CHECKING:
    from rich.console import Console

    from format_bench.families.cases import Case

KEY = "training"
"""Table of a mix that asks for shards."""

# Shards of each worker of each rank. Fewer than one would leave workers idle; beyond 64 requests take
# longer than their samples in all but the largest sets.
_OF_EACH_WORKER = (1, 4, 16, 64)

# Further distance from a full shuffle that a faster plan may have. Chosen, not measured.
_AS_GOOD = 0.1


class Wish(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """How a training will read its samples."""

    loader: str = "WebDataset"
    workers: int = 1
    ranks: int = 1
    link: str = ""
    """Round trip and bandwidth, e.g. "20ms/1Gbit"; empty for local files."""


@dataclass(frozen=True)
class Measured:
    """Trainings on as many shards."""

    shards: int
    samples: int
    values: Mapping[str, Record]
    """Records with a value, by metric."""

    def value(self, metric: str) -> float:
        """Return the value of a metric."""
        return self.values[metric].value or 0.0

    @property
    def seconds(self) -> float:
        """Time of a sample in the first epoch, in which shards are brought in."""
        return self.value("first epoch sample time")

    @property
    def words(self) -> str:
        """The choice in words."""
        size = quantity(self.value("size") / self.shards, "bytes")
        return f"{self.shards:,} shards of {size}, {self.samples / self.shards:,.0f} samples each"

    @property
    def grounds(self) -> str:
        """The measured values in words."""
        return (
            f"a sample takes {quantity(self.seconds, 'seconds')} in the first epoch, the first batch "
            f"{quantity(self.value('first batch time'), 'seconds')}, and the order is "
            f"{self.value('order distance'):.2f} from a full shuffle"
        )


def wish_of(mix: Path) -> Wish | None:
    """Return the table `training` of a mix; None if it has none.

    Raises
    ------
    InvalidQuestionsError
        If the file cannot be read, or the table is wrong.
    """
    facts = facts_of(mix)
    if KEY not in facts:
        return None
    try:
        found = msgspec.convert(facts[KEY], Wish)
    except msgspec.ValidationError as error:
        raise InvalidQuestionsError(f"{mix}: [{KEY}]: {error}") from error
    if min(found.workers, found.ranks) < 1:
        raise InvalidQuestionsError(f"{mix}: [{KEY}]: there is at least one worker and one rank")
    return found


def plan(request: PlanRequest, wish: Wish, shown: Console) -> list[Measured]:
    """Return measured numbers of shards, the best first.

    The best one is the fastest in the first epoch whose order is about as good as the best order.

    Raises
    ------
    UnsupportedError
        If the loader has no shards of equal size.
    NoCandidateError
        If no number of shards could be measured.
    """
    loader = registry_of(FAMILIES["training"]).find(wish.loader)
    if not loader.shards:
        raise UnsupportedError(f"{wish.loader} has no shards of equal size to plan")
    counts = [each * wish.workers * wish.ranks for each in _OF_EACH_WORKER]
    link = {"link": (wish.link,)} if wish.link else {}
    wanted = RunRequest(
        suite="training",
        formats=(wish.loader,),
        datasets=(request.dataset,) if request.dataset else (),
        rows=request.size,
        user_data=(request.data,) if request.data else (),
        steps=("save", "epochs"),
        conditions={"workers": (str(wish.workers),), "shard count": tuple(map(str, counts)), **link},
        scratch=request.scratch,
        out=request.results_folder,
        fresh=request.fresh,
    )
    limits = Limits(session.ROUNDS, MIN_REPEATS, request.budget_seconds / (2 * len(counts)))
    run = session.measure(wanted, shown, on_own=_ignore, on_record=_ignore, limits=limits)
    found = [_measured(case, run.records) for case in run.cases]
    whole = [each for each in found if "first epoch sample time" in each.values]
    if not whole:
        raise NoCandidateError(f"no number of shards could be measured; see {request.results_folder}")
    return ranked(whole)


def ranked(found: Sequence[Measured]) -> list[Measured]:
    """Return measured numbers of shards, the best first."""
    least = min(each.value("order distance") for each in found)
    return sorted(
        found, key=lambda each: (each.value("order distance") > least + _AS_GOOD, each.seconds)
    )


def _measured(case: Case, records: Sequence[Record]) -> Measured:
    own = {each for step in case.steps for each in keys(case, step)}
    values = {each.metric: each for each in records if each.value is not None and key(each) in own}
    return Measured(int(case.conditions["shard count"]), case.rows, values)


def answer(wish: Wish, found: list[Measured]) -> list[tuple[str, str]]:
    """Return the plan in lines, each with its first word."""
    first, *others = found
    lines = [("use", f"{wish.loader} with {first.words}"), ("because", first.grounds)]
    return lines + [
        (
            "or",
            f"{each.words}: {format_ratio(each.seconds / first.seconds)} times as long; {each.grounds}",
        )
        for each in others
    ]


def to_json(wish: Wish, found: list[Measured]) -> dict[str, Any]:
    """Return the plan as JSON values."""
    shards = [
        {"shards": each.shards} | {metric: one.value for metric, one in each.values.items()}
        for each in found
    ]
    return {"training": msgspec.to_builtins(wish), "shards": shards}


def _ignore(_: object) -> None:
    """Show nothing of it."""
