"""Output of a plan: progress, sentences and tables on a terminal, and a page as Markdown or HTML."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core import UnavailableError
from adapter_core.availability import install_hint
from adapter_core.files import write_atomically
from format_bench.families.arrays.boxes import by
from format_bench.planning.chunk_plan import PROPOSED, SOURCE, caveats, sentences
from format_bench.planning.cost_model import TERMS
from format_bench.results.display import terminal
from format_bench.results.display.markdown import TextTable, markdown
from format_bench.results.display.text import format_ratio, quantity
from format_bench.results.marks import TIE
from format_bench.runner.reading_display import OneLine

if TYPE_CHECKING:
    from rich.console import Console

    from format_bench.planning.chunk_plan import ChunkPlan, StorePlan, Verified

TITLE = "Stores and chunk shapes for a mix of queries"
ENDINGS = ("html", "md")
"""Formats of a page."""

_NONE = "-"


class PlanDisplay(OneLine):
    """Progress of a session, each event with the time since the start."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._start = time.monotonic()

    def show(self, line: str) -> None:
        """Show an event."""
        super().show(f"{time.monotonic() - self._start:6.1f} s  {line}")


def show(plan: ChunkPlan, *, quiet: bool) -> None:
    """Print the answer; if `quiet`, without the models and caveats."""
    console = terminal.console()
    layouts, *others = tables(plan)
    terminal.text_table(console, layouts, lambda _: "")
    for sentence in sentences(plan):
        terminal.prose(console, sentence)
    if not quiet:
        for caveat in caveats(plan):
            terminal.prose(console, f"note: {caveat}", indent="  ")
        for each in others:
            terminal.text_table(console, each, lambda _: "")


def tables(plan: ChunkPlan) -> list[TextTable]:
    """Return the verified layouts, the queries of the first one, the proposals and the models."""
    return [_layouts(plan), _queries(plan), _fronts(plan), _models(plan)]


def _layouts(plan: ChunkPlan) -> TextTable:
    tied = plan.ties
    header = [
        "store", "chunks", "", "measured", "from", "to", "predicted", "times first", "chosen as",
        "chunk", "chunks in all", "files", "size", "saved in",
    ]  # fmt: skip
    rows = []
    for each in plan.ranked:
        rows.append(
            [
                each.layout.store,
                by(each.chunks),
                TIE if each in tied else "",
                quantity(each.seconds, "seconds"),
                quantity(each.interval.low, "seconds"),
                quantity(each.interval.high, "seconds"),
                _seconds(each.predicted),
                format_ratio(each.seconds / plan.first.seconds),
                ", ".join(each.kinds),
                quantity(plan.chunk_bytes(each), "bytes"),
                f"{each.chunks_number:,}",
                f"{each.files:,}",
                quantity(each.size_bytes, "bytes"),
                _seconds(each.save_seconds or None),
            ]
        )
    return TextTable("Measured on the sample: time of a query of the mix", header, rows)


def _queries(plan: ChunkPlan) -> TextTable:
    """Return the times of each query with the best chunks, and with the source's."""
    shown = [plan.first]
    shown += [
        each
        for each in plan.first_store.verified
        if SOURCE in each.kinds and each not in shown and each.costs
    ]
    header = ["query", "weight", "extents"]
    header += [f"{each.name}: {what}" for each in shown for what in ("predicted", "measured")]
    rows = [
        [
            query.name,
            f"{query.weight:.3g}",
            by(query.box.extents),
            *(cell for each in shown for cell in _query_cells(each, place)),
        ]
        for place, query in enumerate(plan.mix.scaled(plan.array.shape, plan.sample).queries)
    ]
    return TextTable("Queries", header, rows)


def _query_cells(each: Verified, place: int) -> Iterator[str]:
    yield _seconds(each.predicted_queries[place] if each.predicted_queries else None)
    yield quantity(statistics.median(each.query_seconds[place]), "seconds")


def _fronts(plan: ChunkPlan) -> TextTable:
    """Return predicted times beside numbers of chunks, on the Pareto front of each store."""
    rows = [
        [
            store.label,
            by(each.chunks),
            quantity(each.seconds, "seconds"),
            f"{each.number:,}",
        ]
        for store in plan.stores
        for each in store.front[:FRONT_SHOWN]
    ]
    header = ["store", "chunks", "predicted on the whole array", "chunks in all"]
    return TextTable("Fewer chunks, and the time that they cost", header, rows)


FRONT_SHOWN = 5
"""Chunk shapes of a store on its Pareto front that are shown."""


def _models(plan: ChunkPlan) -> TextTable:
    header = ["store", "codec", *TERMS, "median error", "R²", "reads", "best measured"]
    rows = []
    for store in plan.stores:
        model, best = store.model, store.best
        codec = store.codec or "none"
        rows.append(
            [
                store.label,
                codec if store.level is None else f"{codec} {store.level}",
                *(
                    [quantity(each, "seconds") for each in model.coefficients]
                    if model
                    else [_NONE] * len(TERMS)
                ),
                f"{model.median_error:.0%}" if model else _NONE,
                f"{model.r_squared:.2f}" if model else _NONE,
                f"{model.reads:,}" if model else _NONE,
                by(best.chunks) if best else _NONE,
            ]
        )
    notes = ["Errors are those of reads whose chunk shape was held back from the fit."]
    return TextTable("Fitted cost models", header, rows, notes)


def _seconds(value: float | None) -> str:
    return _NONE if value is None else quantity(value, "seconds")


def write_page(plan: ChunkPlan, path: Path) -> None:
    """Write the answer as a page, Markdown or HTML by the ending of its name.

    Raises
    ------
    UnavailableError
        If HTML is wanted and jinja2 is not installed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    text = _markdown(plan) if path.suffix == ".md" else _html(plan)
    with write_atomically(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _markdown(plan: ChunkPlan) -> str:
    parts = [f"# {TITLE}\n", _lead(plan) + "\n", " ".join(sentences(plan)) + "\n"]
    parts.append("\n".join(f"- {each}" for each in caveats(plan)) + "\n")
    parts += [markdown(each) for each in tables(plan)]
    return "\n".join(parts)


def _html(plan: ChunkPlan) -> str:
    try:
        from format_bench.report.writers.html import environment, style

        template, shown_style = environment().get_template("plan.html"), style()
    except ModuleNotFoundError as error:
        reason = f"{error.name} is not installed"
        raise UnavailableError("a page as html", reason, install_hint("report")) from error
    return template.render(
        title=TITLE,
        lead=_lead(plan),
        sentences=sentences(plan),
        caveats=caveats(plan),
        tables=tables(plan),
        style=shown_style,
    )


def _lead(plan: ChunkPlan) -> str:
    dims = " x ".join(plan.array.dims)
    return (
        f"{plan.array.name}, {by(plan.array.shape)} ({dims}), {plan.array.dtype.name}; "
        f"{len(plan.mix.queries)} queries; {'cold' if plan.cold else 'warm'} reads"
    )


def to_json(plan: ChunkPlan) -> dict[str, Any]:
    """Return a plan as JSON values; times in seconds, sizes in bytes."""
    first, array, mix = plan.first, plan.array, plan.mix
    queries = [{"name": q.name, "weight": q.weight, **asdict(q.box)} for q in mix.queries]
    return {
        "use": {"store": first.layout.store, "chunks": first.chunks},
        "explanation": sentences(plan),
        "remarks": caveats(plan),
        "array": {name: getattr(array, name) for name in ("name", "dims", "shape", "chunks")}
        | {"dtype": array.dtype.name},
        "sample_shape": plan.sample,
        "mix": {"mean": mix.mean, "keep_open": mix.keep_open, "queries": queries},
        **{name: getattr(plan, name) for name in ("cold", "turns", "load", "seconds")},
        "gains": [
            {"over": kind, "chunks": over.chunks, "ratio": ratio, "low": low, "high": high}
            for over, kind, ratio, low, high in plan.gains
        ],
        "best": {store.label: store.best.chunks for store in plan.stores if store.best},
        "prediction_error": plan.prediction_error,
        "stores": [_store(store) for store in plan.stores],
        "ranked": [_verified(plan, each) for each in plan.ranked],
    }


def _store(store: StorePlan) -> dict[str, Any]:
    model = store.model
    return {
        "store": store.label,
        **{name: getattr(store, name) for name in ("codec", "level", "failure")},
        "model": model
        and {
            **asdict(model),
            "coefficients": dict(zip(TERMS, model.coefficients, strict=True)),
            "fits": model.fits,
        },
        "front": [
            {"chunks": each.chunks, "seconds": each.seconds, "chunks_number": each.number}
            for each in store.front
        ],
    }


_SAME = (
    "chunks", "kinds", "predicted", "predicted_whole", "save_seconds", "size_bytes", "files",
    "chunks_number",
)  # fmt: skip
"""Fields of a verified layout that JSON has by the same names."""


def _verified(plan: ChunkPlan, each: Verified) -> dict[str, Any]:
    predicted: Sequence[float | None] = each.predicted_queries or [None] * len(plan.mix.queries)
    facts = zip(plan.mix.queries, predicted, each.query_seconds, strict=True)
    return {
        **each.layout._asdict(),
        **{name: getattr(each, name) for name in _SAME},
        "chunk_bytes": plan.chunk_bytes(each),
        "proposed": PROPOSED in each.kinds,
        "ties_with_first": each in plan.ties,
        "measured": each.seconds,
        "low": each.interval.low,
        "high": each.interval.high,
        "turns": len(each.costs),
        "queries": [
            {"name": query.name, "predicted": expected, "measured": statistics.median(measured)}
            for query, expected, measured in facts
        ],
    }
