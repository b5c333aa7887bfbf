"""Planner of tables: order, partitions, row groups, pages, codec, encodings, filters and statistics."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import query_engines
from adapter_core import BaseAdapter, DataFormat, TableLayout
from adapter_core.errors import (
    InvalidQuestionsError,
    InvalidRequestError,
    UnsupportedError,
    UserDataError,
)
from data_generator.confinement.limits import USUAL_LIMITS
from format_bench.conditions.axes.table_layout import Layout as Axis
from format_bench.families.queries.operations import DEFAULTS, TUNED
from format_bench.families.questions import Questions
from format_bench.instruments import isolation, threads
from format_bench.planning.layout_cost import GROUP_ROWS, PAGE_ROWS, SHARED_TERMS
from format_bench.planning.mix import Mix, Weighted, read_table_mix
from format_bench.planning.planner import Form, Layout, Planner, PlanRequest, StorePlan, Verified, Watch
from format_bench.planning.table_sample import TableSample, lookups_of, sample_table
from format_bench.results.conditions import Conditions
from format_bench.results.display.text import joined, plural
from format_bench.runner.reading_display import ReadingLines
from format_bench.runner.user_data import prepare

LIBRARY = "the library's defaults"
"""Kind of the default."""

# Layouts that a model is fitted to, the library's defaults included. Each is saved and read; the model
# has as many `SHARED_TERMS`. Chosen, not measured.
DESIGNED = 10

# Factor on a predicted cost for each choice of a layout: of equals the plainest is proposed. Far below
# the errors of predictions, so that it decides between equals only.
SIMPLER = 1.003

# Times of the best proposal that another one may take. As in `planning.chunks`.
SLOWER = 1.5

# Files with types: of text, pandas would leave the times as they are, and needs to know the separator.
_READERS = {
    ".parquet": "pd.read_parquet", ".feather": "pd.read_feather", ".arrow": "pd.read_feather",
    ".orc": "pd.read_orc", ".xlsx": "pd.read_excel",
}  # fmt: skip


class LayoutPlanner(Planner):
    """A sample of a table, and queries to it.

    Parameters
    ----------
    name : str
        Name of the table.
    sampled : TableSample
        The sample.
    mix : Mix
        The queries.
    questions : Questions
        Of the mix, and the ones that separate terms.
    path : Path
        The sample, as the family has stored it.
    source : str
        The user's file; empty for a named data set.
    """

    family, suite, title = "queries", "query", "Formats and layouts for a mix of queries"
    stores = ("Parquet[duckdb]", "Parquet[polars]", "Parquet[pyarrow]", "Lance[lance]", "Vortex[vortex]")
    defaults: ClassVar = (LIBRARY,)
    noun = "layout"
    # The best layout, and for each choice the best one without it, and further ones once the model is
    # fitted to the first turn, too (docs/planning.md).
    proposals_kept, refined_kept = 6, 3
    predicts_whole = False
    opens_apart = False

    def __init__(  # noqa: PLR0913, PLR0917 (the data, and what they are asked)
        self,
        name: str,
        sampled: TableSample,
        mix: Mix,
        questions: Questions,
        path: Path,
        source: str,
    ) -> None:
        self.mix, self.path, self.facts, self._questions = mix, path, sampled.facts, questions
        self.rows, self.columns = self.facts.rows, len(self.facts.names)
        self.name = f"{name}-{self.rows}"
        self._sampled, self._source, self._cpus = sampled, source, threads.cpus("all")
        self.codec = ""
        """The one codec of a request; empty for all."""
        self._queries = [*mix.queries, *(Weighted(each, 0.0) for each in sampled.probes)]

    def check(self, label: str) -> BaseAdapter:
        pair = query_engines.get(label)
        for each in self.mix.queries:
            try:
                pair.check_query(self.facts.asked[each.name])
            except UnsupportedError as error:
                raise UnsupportedError(f"question {each.name!r}: {error}") from error
        return pair

    def conditions(self, form: Form) -> Conditions:
        track = DEFAULTS if form == TableLayout() else TUNED
        return Conditions({"track": track, Axis.name: str(form)})

    def form_of(self, conditions: Mapping[str, str]) -> Form | None:
        text = conditions.get(Axis.name)
        return TableLayout.parse(text) if text else None

    def questions(self, queries: Sequence[Weighted], key: Iterable[int]) -> Questions:
        return self._questions.only(*(each.name for each in queries))

    def fit_queries(self) -> Sequence[Weighted]:
        return self._queries

    def place_of(self, form: Form) -> tuple[int, ...]:
        return ()

    def _choices(self, store: StorePlan) -> list[list[Any]]:
        """Return the values of a store's choices, one list for each."""
        adapter = query_engines.find(store.label).format
        names, rows = adapter.layout_names, self.facts.rows
        codecs = list(adapter.layout_codecs) if "codec" in names else [""]
        if self.codec and "codec" in names:
            codecs = [self.codec]
        smaller = [each for each in GROUP_ROWS if each < rows]
        groups = [*smaller, None] if "group_rows" in names else [None]
        pages = [None, *(each for each in PAGE_ROWS if each < rows)] if "page_rows" in names else [None]
        filters = [(), tuple(lookups_of(self.facts.asked))] if "lookups" in names else [()]
        orders: list[Any] = [each for each in self._sampled.orders if each in self.facts.orders]
        if any(query.positions for query in self.facts.asked.values()):
            orders = [()]  # rows are asked by their numbers
        folders: list[tuple[str, ...]] = [()]
        if "partition_by" in names and orders != [()]:
            folders.append(self._sampled.partition)
        compared = {name for query in self.facts.asked.values() for name in query.compared}
        least = tuple(name for name in self.facts.names if name in compared)
        statistics = [(), least] if "statistics" in names else [()]
        encodings = [0, 1, 2] if "encodings" in names else [0]
        choices = [orders, codecs, groups, pages, filters, encodings, folders, statistics]
        return [list(dict.fromkeys(each)) for each in choices]

    def _form(self, store: StorePlan, choice: Sequence[Any]) -> TableLayout:
        order, codec, group, page, lookups, encoding, folders, statistics = choice
        encodings: tuple[tuple[str, str], ...] = ()
        if encoding:
            known = self.facts.encodings(order, codec or "snappy")
            encodings = known[min(encoding, len(known) - 1)]
        filtered = tuple(each for each in lookups if each not in {*order, *folders})
        return TableLayout(
            sort_by=tuple(each for each in order if each not in folders),
            partition_by=folders,
            statistics=statistics,
            codec=codec,
            group_rows=group,
            page_rows=page,
            lookups=filtered,
            encodings=encodings,
        )

    def designed(self, store: StorePlan) -> list[Form]:
        taken = zip(*map(_shuffled, self._choices(store), range(DESIGNED)), strict=False)
        found = [TableLayout(), *(self._form(store, each) for each in taken)]
        return list(dict.fromkeys(found))[:DESIGNED]

    def _codecs(self) -> list[str]:
        return list(dict.fromkeys(codec for _, codec, _ in self.facts.sizes if codec != "none"))

    def terms(self) -> tuple[str, ...]:
        own = (f"query {each.name}" for each in self._queries)
        return (*own, *SHARED_TERMS, *(f"per byte of {each}" for each in self._codecs()))

    def amounts(
        self,
        query: Weighted,
        form: Form,
        *,
        whole: bool = False,
        is_fit: bool = False,
    ) -> Sequence[float]:
        own = [float(each.name == query.name) for each in self._queries]
        codec = self._codec_of(form)
        return [*own, *self.facts.amounts(query.name, form, codec, self._codecs(), self._cpus)]

    def _codec_of(self, form: TableLayout) -> str:
        known = {codec for _, codec, _ in self.facts.sizes}
        return form.codec if form.codec in known else "snappy"

    def proposals(self, store: StorePlan) -> list[Form]:
        """Return the best layout by the model, and for each choice the best one without it."""
        model = store.model
        if model is None:
            return []
        forms: dict[TableLayout, tuple[Any, ...]] = {}
        for choice in itertools.product(*self._choices(store)):
            forms.setdefault(self._form(store, choice), choice)
        work = [[self.amounts(each, form) for form in forms] for each in self.mix.queries]
        costs = self.mix.cost(model.seconds(work))
        ranked = []
        for (form, choice), cost in zip(forms.items(), costs.tolist(), strict=True):
            size = self.facts.size_bytes(form, self._codec_of(form)) ** self.mix.size_power
            chosen = sum(bool(getattr(form, each.name)) for each in fields(form))
            ranked.append((cost * size * SIMPLER**chosen, cost, form, choice))
        ranked.sort(key=lambda each: each[0])
        best = ranked[0]
        others = []
        for place in range(len(best[3])):
            values = {best[3][place]}
            for each in ranked:
                if each[3][place] not in values:
                    values.add(each[3][place])
                    others.append(each)
        others.sort(key=lambda each: each[0])
        found = dict.fromkeys(each[2] for each in (best, *others) if each[0] <= SLOWER * best[0])
        return list(found)[: self.proposals_kept]

    def usual(self, store: StorePlan) -> list[tuple[Form, str]]:
        return [(TableLayout(), LIBRARY)]

    def cut(self, form: Form) -> Form:
        return form

    def parts(self, form: Form) -> int:
        return self.facts.groups(form, self._sampled.rows)

    def words(self, form: Form) -> str:
        return described(form)

    def brief(self, form: Form) -> str:
        layout: TableLayout = form
        if layout == TableLayout():
            return LIBRARY
        parts = [
            f"folders of {'+'.join(layout.partition_by)}" if layout.partition_by else "",
            f"by {'+'.join(layout.sort_by)}" if layout.sort_by else "unsorted",
            f"groups {layout.group_rows:,}" if layout.group_rows else "",
            f"pages {layout.page_rows:,}" if layout.page_rows else "",
            layout.codec,
            plural(len(layout.encodings), "encoding") if layout.encodings else "",
            "filters" if layout.lookups else "",
            "fewer statistics" if layout.statistics else "",
        ]
        return "; ".join(filter(None, parts))

    def lead(self) -> str:
        return (
            f"{self.name.rpartition('-')[0]}, {self._sampled.rows:,} rows of "
            f"{plural(self.columns, 'column')}; {len(self.mix.queries)} queries"
        )

    def on_sample(self, ranked: Sequence[Verified]) -> Iterator[str]:
        if self.rows == self._sampled.rows:
            yield f"Measured on the whole table, {self.rows:,} rows."
        else:
            yield (
                f"Measured on a sample of {self.rows:,} rows out of {self._sampled.rows:,}, taken at "
                "random and in their order; no row group is larger than the sample."
            )
        for name, reason in self.facts.unsortable.items():
            yield f"Rows cannot be sorted by {name}: {reason}."
        if self.mix.save_power or self.mix.size_power:
            more = 2**self.mix.size_power - 1, 2**self.mix.save_power - 1
            yield (
                f"A file of twice the size counts like {more[0]:.1%} more time of queries, twice the "
                f"time of a save like {more[1]:.1%}; `weigh` in the mix changes that."
            )

    def cells(self, each: Verified) -> dict[str, str]:
        return {"row groups": f"{each.parts:,}"}

    def extents(self, query: Weighted) -> str:
        return self._questions.by_name[query.name].words

    def code(self, layout: Layout) -> str:
        form: TableLayout = layout.form
        adapter = query_engines.find(layout.store).format
        suffix = Path(self._source).suffix.lower()
        reader = _READERS.get(suffix)
        lines = ["import pandas as pd", ""]
        # By default pandas makes floats of integers with nulls, and the file would have another type.
        read = f'{reader}({self._source!r}, dtype_backend="numpy_nullable")'
        lines.append(f"df = {read}" if reader else "df = ...  # your table, with times as datetimes")
        if form.sort_by:
            keys = list(form.sort_by)
            lines.append(f'df = df.sort_values({keys!r}, kind="stable", ignore_index=True)')
        lines.append(f'target = "planned{adapter.suffix}"')
        try:
            return "\n".join(lines) + "\n" + adapter.layout_code(form, self.facts.names)
        except UnsupportedError:
            return ""

    def to_json(self) -> dict[str, Any]:
        asked = self._questions.by_name
        queries = [
            {"name": each.name, "weight": each.weight, "question": dict(asked[each.name].fields)}
            for each in self.mix.queries
        ]
        return {
            "table": {"name": self.name.rpartition("-")[0], "rows": self._sampled.rows},
            "columns": self.facts.names,
            "sample_rows": self.rows,
            "unsortable": self.facts.unsortable,
            "mix": {
                "mean": self.mix.mean,
                "weigh": {"save": self.mix.save_power, "size": self.mix.size_power},
                "queries": queries,
            },
        }

    def form_json(self, form: Form) -> dict[str, Any]:
        return {"layout": str(form)}


def described(form: TableLayout) -> str:
    """Return a layout in words, e.g. "sorted by time, row groups of 65,536 rows, zstd:1"."""
    if form == TableLayout():
        return "by the library's defaults"
    words = [f"sorted by {joined(form.sort_by)}" if form.sort_by else "in the file's order"]
    if form.partition_by:
        words.append(f"partitioned by {joined(form.partition_by)}")
    if form.group_rows:
        words.append(f"row groups of {form.group_rows:,} rows")
    if form.page_rows:
        words.append(f"pages of {form.page_rows:,} rows")
    if form.codec:
        words.append("uncompressed" if form.codec == "none" else form.codec)
    kinds: dict[str, list[str]] = {}
    for name, encoding in form.encodings:
        kinds.setdefault(encoding, []).append(name)
    words += [f"{encoding} for {joined(names, most=4)}" for encoding, names in kinds.items()]
    if form.lookups:
        words.append(f"indexes or bloom filters of {joined(form.lookups)}")
    if form.statistics:
        words.append(f"statistics of {joined(form.statistics, most=4)} alone")
    return ", ".join(words)


def prepared(
    request: PlanRequest, sample_bytes: float, folder: Path, watch: Watch
) -> tuple[LayoutPlanner, dict[str, str]]:
    """Return the planner of a table, its sample stored in a folder, and fingerprints of both.

    Raises
    ------
    InvalidQuestionsError
        If the mix is not one of questions to the table.
    FormatBenchError
        If the table cannot be read.
    """
    mix, questions = read_table_mix(request.mix)
    formats = [query_engines.find(label).format for label in request.labels(LayoutPlanner)]
    codecs = list(dict.fromkeys(["none", "snappy", *_codecs_of(request, formats)]))
    stored, fingerprint = None, f"{request.dataset} {request.size}"
    if request.data:
        own = prepare(request.data, folder, ReadingLines(request.data.path, watch))
        if own.family != "tables":
            raise InvalidRequestError(
                f"{request.mix} asks a table; {request.data.path} has {own.family}"
            )
        stored, fingerprint = own.place.value[0], own.fingerprint
        for each in own.remarks:
            watch(each)
    path = folder / "sample"
    is_partitioned = any("partition_by" in each.layout_names for each in formats)
    outcome = isolation.run(
        partial(sample_table, is_partitioned=is_partitioned),
        *(request.name, stored, request.size, questions, sample_bytes, codecs, path),
        [each.sort_by for each in request.given],
        limit_seconds=USUAL_LIMITS.seconds,
    )
    if outcome.error == InvalidQuestionsError.__name__:
        raise InvalidQuestionsError(outcome.sentence.removeprefix(f"{outcome.error}: "))
    if outcome.status:
        raise UserDataError(f"{request.name}: cannot be planned: {outcome.sentence}")
    if isinstance(outcome.value, str):
        raise UserDataError(outcome.value)
    sampled, asked = outcome.value
    source = request.data.path if request.data else ""
    found = LayoutPlanner(request.name, sampled, mix, asked, path, source)
    if request.codec is not None:
        level = "" if request.level is None else f":{request.level}"
        found.codec = f"{request.codec}{level}"
    request.check_room(folder, path.stat().st_size, LayoutPlanner)
    watch(f"sample of {found.rows:,} out of {sampled.rows:,} rows")
    kind = "cold query" if request.cold else "query"
    known = {f"{kind} {e.name!r} to {found.name}": e.fingerprint for e in questions.by_name.values()}
    return found, {found.name: fingerprint, **known}


def _codecs_of(request: PlanRequest, formats: Iterable[DataFormat]) -> list[str]:
    """Return the codecs that layouts of a request, in its formats, may have.

    Raises
    ------
    InvalidRequestError
        If no store has the codec that is asked for.
    """
    known = [codec for each in formats for codec in each.layout_codecs]
    if request.codec is None:
        return known
    names = list(dict.fromkeys(each.partition(":")[0] for each in known))
    if request.codec not in names:
        raise InvalidRequestError(f"--codec {request.codec}: layouts have {joined(names)}")
    return [request.codec if request.level is None else f"{request.codec}:{request.level}"]


def _shuffled(values: Sequence[Any], seed: int) -> Iterator[Any]:
    """Yield all values again and again, in another order each time: no two choices go together."""
    shuffle = random.Random(seed)  # noqa: S311 (a design)
    for _ in range(DESIGNED):
        yield from shuffle.sample(values, len(values))
