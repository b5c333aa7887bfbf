"""Session of a plan: sample, fitted cost models, search, and verification by measuring.

A planner knows the family: `chunks` plans arrays, `layouts` tables.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TypeVar

from adapter_core import FormatBenchError
from adapter_core.codec_choice import CodecChoice
from adapter_core.errors import NoCandidateError
from format_bench.planning import chunks, layouts
from format_bench.planning.cells import Cells
from format_bench.planning.cost_model import ReadSample, fit
from format_bench.planning.mix import Weighted, asks_tables
from format_bench.planning.planner import (
    DESIGNED,
    DESIGNED_KEPT,
    GIVEN,
    PROPOSED,
    Form,
    Layout,
    Planner,
    PlanRequest,
    StorePlan,
    Verified,
    Watch,
)
from format_bench.planning.plans import Plan
from format_bench.runner import folders
from format_bench.runner.executor import TimeBudget

# Default size of the sample: so many bytes for each second that a store gets, within bounds. A store
# saves and reads ten layouts and more of it within its time. Chosen, not measured.
SAMPLE_BYTES_PER_SECOND, LEAST_SAMPLE_BYTES, MOST_SAMPLE_BYTES = 4_000_000, 4_000_000, 1_000_000_000

# Part of the budget for the reads that the models are fitted to. Reading for the models and verifying
# take about as long. Chosen, not measured.
FIT_SHARE = 0.45

# Designed layouts of a store that are read, whatever the budget. One more than a model needs
# (`LEAST_LAYOUTS`).
LEAST_FITTED = 4

# Turns of the verification, whatever the budget. A median needs three.
LEAST_TURNS = 3

# Times of the best one of its store above which a proposal has no further turn after two. Twice the
# ratio up to which layouts are proposed.
HOPELESS = 3.0


def plan(request: PlanRequest, watch: Watch) -> Plan:
    """Return the measured stores and layouts for a user's mix of queries.

    Parameters
    ----------
    request : PlanRequest
        The mix, the data, the stores and the budget.
    watch : callable
        Receives sentences on the progress.

    Raises
    ------
    InvalidQuestionsError
        If the mix is not one of queries to the data.
    NoCandidateError
        If no store can be measured.
    FormatBenchError
        If the data cannot be read, or the store is unknown.
    """
    budget, out = TimeBudget(request.budget_seconds), request.results_folder
    family = layouts if asks_tables(request.mix) else chunks
    kind: type[Planner] = layouts.LayoutPlanner if family is layouts else chunks.ChunkPlanner
    labels = request.labels(kind)
    with ExitStack() as stack:
        folder = stack.enter_context(folders.make(folders.check_scratch(request.scratch)))
        sample_bytes = request.sample_bytes or _sample_bytes(request, labels)
        planner, known = family.prepared(request, sample_bytes, folder, watch)
        folders.open_results(out, fresh=request.fresh, fingerprints=known, option="--results")
        stack.enter_context(folders.only_run(out))
        cells = Cells(out, folder, planner, budget, cold=request.cold, metric=request.metric)
        stack.enter_context(cells)
        session = PlanSession(request, planner, cells, budget, watch)
        stores = [session.chosen(label) for label in labels]
        session.fit_models(stores)
        session.choose(stores)
        session.verify(stores)
    load = os.getloadavg()[0]
    found = Plan(planner, stores, request.cold, budget.elapsed_seconds, load, request.metric)
    if not found.ranked:
        reasons = "; ".join(f"{each.label}: {each.failure}" for each in stores if each.failure)
        raise NoCandidateError(f"no store could be measured: {reasons}")
    return found


def _sample_bytes(request: PlanRequest, labels: Sequence[str]) -> float:
    wanted = SAMPLE_BYTES_PER_SECOND * request.budget_seconds / len(labels)
    return min(MOST_SAMPLE_BYTES, max(LEAST_SAMPLE_BYTES, wanted))


class PlanSession:
    """A session on one sample: fits models, proposes layouts, and verifies them by measuring."""

    def __init__(
        self,
        request: PlanRequest,
        planner: Planner,
        cells: Cells,
        budget: TimeBudget,
        watch: Watch,
    ) -> None:
        self._request, self._planner = request, planner
        self._cells, self._budget, self._watch = cells, budget, watch

    def chosen(self, label: str) -> StorePlan:
        """Return a store with its codec, or with the reason why it is left out."""
        found = StorePlan(label)
        try:
            adapter = self._planner.check(label)
            if isinstance(adapter, CodecChoice):
                codec, level = self._request.codec, self._request.level
                found.codec, found.level = adapter.nearest_codec(codec, level)
        except FormatBenchError as error:
            found.failure = str(error)
            self._watch(f"left out: {error}")
        return found

    def fit_models(self, stores: Sequence[StorePlan]) -> None:
        """Measure designed layouts and fit a cost model to each store."""
        queries = self._planner.fit_queries()
        live = [each for each in stores if not each.failure]
        for place, store in enumerate(live):
            left = FIT_SHARE * self._budget.seconds - self._budget.elapsed_seconds
            self._watch(f"fit a model of {store.label} ({place + 1} of {len(live)})")
            forms = self._planner.designed(store)
            layouts = [Layout(store.label, store.codec, store.level, form) for form in forms]
            budget = TimeBudget(max(0.0, left / (len(live) - place)))
            self._cells.fit(layouts, queries, LEAST_FITTED, budget)
            for layout in layouts:
                self._take_designed(store, layout, queries)
            if store.mix_costs:
                store.failure = ""
            store.model = fit(store.samples)

    def _take_designed(self, store: StorePlan, layout: Layout, queries: Sequence[Weighted]) -> None:
        reads = self._cells.reads(layout, queries, is_fit=True)
        if reads.failure:
            self._watch(f"{layout.store} {self._planner.brief(layout.form)}: {reads.failure}")
            store.failure = store.failure or reads.failure
        mix = self._planner.mix
        for times in reads.turns[:1]:
            for query, seconds in zip(queries, times, strict=True):
                work = self._planner.amounts(query, layout.form, is_fit=True)
                store.samples.append(ReadSample(work, layout.form, seconds))
            store.mix_costs[layout.form] = float(mix.cost(times[: len(mix.queries)]))

    def choose(self, stores: Sequence[StorePlan]) -> None:
        """Choose the layouts of each store that are verified."""
        for store in stores:
            if store.failure:
                continue
            costs = store.mix_costs
            for form in sorted(costs, key=lambda each: costs[each])[:DESIGNED_KEPT]:
                self._add(store, form, DESIGNED)
            for form in self._planner.proposals(store):
                self._add(store, form, PROPOSED)
            for form, kind in self._planner.usual(store):
                self._add(store, form, kind)
            for form in self._request.given:
                self._add(store, form, GIVEN)

    def _add(self, store: StorePlan, form: Form, kind: str) -> None:
        planner = self._planner
        layout = Layout(store.label, store.codec, store.level, planner.cut(form))
        name, parts = f"{store.label} {planner.brief(form)}", planner.parts(form)
        model, queries = store.usable_model, planner.mix.queries
        whole = None
        if model and planner.predicts_whole:
            work = [planner.amounts(each, form, whole=True) for each in queries]
            whole = float(planner.mix.cost(model.seconds(work)))
        for each in store.verified:
            if each.layout == layout:
                if kind in planner.defaults and not {*each.kinds} & {*planner.defaults}:
                    # Layouts that the sample cuts alike are others on the whole: a default is itself.
                    each.name, each.form, each.parts, each.predicted_whole = name, form, parts, whole
                each.kinds = list(dict.fromkeys([*each.kinds, kind]))
                return
        found = Verified(layout, name, form, [kind], parts, predicted_whole=whole)
        if model:
            work = [planner.amounts(each, layout.form) for each in queries]
            found.predicted_queries = model.seconds(work).tolist()
            found.predicted = float(planner.mix.cost(found.predicted_queries))
        store.verified.append(found)

    def verify(self, stores: Sequence[StorePlan]) -> None:
        """Measure the chosen layouts in turns until the budget is spent."""
        for store in stores:
            for each in store.verified:
                self._take(each)
        live = self._hopeful(stores, [each for store in stores for each in store.verified])
        turn, longest = 0, 0.0
        while live and (
            min(len(each.costs) for each in live) < LEAST_TURNS or longest < self._budget.left_seconds
        ):
            start = self._budget.elapsed_seconds
            # Each turn starts with another store, and in it with another layout.
            labels = list(dict.fromkeys(each.layout.store for each in live))
            for label in _rotated(labels, turn):
                self._watch(f"verify, turn {turn + 1}: {label}")
                own = _rotated([each for each in live if each.layout.store == label], turn)
                self._cells.verify([each.layout for each in own], self._planner.mix.queries)
                for each in own:
                    self._take(each)
            turn += 1
            live = self._hopeful(stores, live)
            if turn == 1 and not self._budget.is_spent():
                live += self._refined(stores)
            longest = self._budget.elapsed_seconds - start

    def _refined(self, stores: Sequence[StorePlan]) -> list[Verified]:
        """Fit the models once more, to the first turn too, and return their further proposals."""
        found: list[Verified] = []
        for store in stores:
            known = len(store.verified)
            if store.failure or not self._planner.refined_kept:
                continue
            for each in store.verified:
                for query, times in zip(self._planner.mix.queries, each.query_seconds, strict=False):
                    work = self._planner.amounts(query, each.layout.form)
                    store.samples.append(ReadSample(work, each.layout.form, times[0]))
            store.model = fit(store.samples)
            for form in self._planner.proposals(store):
                if len(store.verified) < known + self._planner.refined_kept:
                    self._add(store, form, PROPOSED)
            found += store.verified[known:]
        return found

    def _take(self, each: Verified) -> None:
        """Note the turns of a layout."""
        reads = self._cells.reads(each.layout, self._planner.mix.queries)
        if reads.failure:
            self._watch(f"{each.name}: {reads.failure}")
            each.failure = reads.failure
        each.save_seconds, each.size_bytes, each.files = (
            reads.save_seconds, reads.size_bytes, reads.files,
        )  # fmt: skip
        each.open_seconds = reads.open_seconds
        each.costs = [float(self._planner.mix.cost(times)) for times in reads.turns]
        each.query_seconds = [list(times) for times in zip(*reads.turns, strict=True)]

    def _hopeful(self, stores: Sequence[StorePlan], live: Sequence[Verified]) -> list[Verified]:
        """Return the layouts that go on; the files of the others are removed."""
        best = {each.label: each.best.seconds for each in stores if each.best}
        found = []
        for each in live:
            is_default = bool({*each.kinds} & {*self._planner.defaults})
            # One turn may be slow by noise: the fastest one counts.
            is_slow = len(each.costs) > 1 and min(each.costs) > HOPELESS * best[each.layout.store]
            if each.failure or (is_slow and not is_default):
                self._cells.remove(each.layout)
            else:
                found.append(each)
        return found


T = TypeVar("T")


def _rotated(found: Sequence[T], turn: int) -> list[T]:
    first = turn % max(1, len(found))
    return [*found[first:], *found[:first]]
