"""Output of a plan: progress, sentences and tables on a terminal, and a page as Markdown or HTML."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core import UnavailableError
from adapter_core.availability import install_hint
from adapter_core.files import write_atomically
from format_bench.planning.planner import PROPOSED, StorePlan, Verified
from format_bench.planning.plans import Plan, answer, banner, caveats, sentences
from format_bench.results.display import terminal
from format_bench.results.display.markdown import TextTable, markdown
from format_bench.results.display.text import format_ratio, quantity
from format_bench.results.marks import TIE
from format_bench.runner.reading_display import OneLine

if TYPE_CHECKING:
    from rich.console import Console

    from format_bench.planning.cost_model import CostModel

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


def show(plan: Plan, *, quiet: bool, explains: bool) -> None:
    """Print the answer in three lines, and the code that writes it; the rest if wanted."""
    console = terminal.console()
    if noise := banner(plan):
        terminal.prose(console, f"note: {noise}")
    lines(answer(plan))
    if (code := plan.planner.code(plan.first.layout)) and not quiet:
        console.print()
        console.print(code.rstrip(), soft_wrap=True, markup=False, highlight=False)
    if explains:
        layouts, *others = tables(plan)
        terminal.text_table(console, layouts, lambda _: "")
        for caveat in caveats(plan):
            terminal.prose(console, f"note: {caveat}", indent="  ")
        for each in others:
            terminal.text_table(console, each, lambda _: "")
    elif not quiet:
        terminal.prose(console, "--explain shows all measured layouts, predictions and grounds.")


def lines(answered: Iterable[tuple[str, str]]) -> None:
    """Print an answer in lines, each with its first word."""
    for word, text in answered:
        terminal.prose(terminal.console(), f"{word:<8} {text}", indent=" " * 9)


def tables(plan: Plan) -> list[TextTable]:
    """Return the verified layouts, the queries of the first one, the proposals and the models."""
    front = [_fronts(plan)] if any(each.front for each in plan.stores) else []
    return [_layouts(plan), _queries(plan), *front, _models(plan)]


def _layouts(plan: Plan) -> TextTable:
    tied, planner = plan.ties, plan.planner
    own = list(planner.cells(plan.first))
    header = [
        "store", planner.noun, "", "measured", "from", "to", "predicted", "times first", "chosen as",
        *own, "files", "size", "saved in",
    ]  # fmt: skip
    rows = []
    for each in plan.ranked:
        rows.append(
            [
                each.layout.store,
                planner.brief(each.form),
                TIE if each in tied else "",
                quantity(each.seconds, "seconds"),
                quantity(each.interval.low, "seconds"),
                quantity(each.interval.high, "seconds"),
                _seconds(each.predicted),
                format_ratio(each.seconds / plan.first.seconds),
                ", ".join(each.kinds),
                *planner.cells(each).values(),
                f"{each.files:,}",
                quantity(each.size_bytes, "bytes"),
                _seconds(each.save_seconds or None),
            ]
        )
    return TextTable("Measured on the sample: time of a query of the mix", header, rows)


def _queries(plan: Plan) -> TextTable:
    """Return the times of each query in the best layout, and in the first default."""
    shown = [plan.first]
    shown += [
        each
        for each in plan.first_store.verified
        if plan.planner.defaults[0] in each.kinds and each not in shown and each.costs
    ]
    header = ["query", "weight", "reads"]
    names = ["first", plan.planner.defaults[0]]
    header += [f"{n}: {what}" for n, _ in zip(names, shown) for what in ("predicted", "measured")]  # noqa: B905
    rows = [
        [
            query.name,
            f"{query.weight:.3g}",
            plan.planner.extents(query),
            *(cell for each in shown for cell in _query_cells(each, place)),
        ]
        for place, query in enumerate(plan.mix.queries)
    ]
    return TextTable("Queries", header, rows)


def _query_cells(each: Verified, place: int) -> Iterator[str]:
    yield _seconds(each.predicted_queries[place] if each.predicted_queries else None)
    yield quantity(statistics.median(each.query_seconds[place]), "seconds")


def _fronts(plan: Plan) -> TextTable:
    """Return predicted times beside numbers of chunks, on the Pareto front of each store."""
    rows = [
        [store.label, plan.planner.brief(form), quantity(seconds, "seconds"), f"{number:,}"]
        for store in plan.stores
        for form, seconds, number in store.front[:FRONT_SHOWN]
    ]
    header = ["store", plan.planner.noun, "predicted on the whole data", "chunks in all"]
    return TextTable("Fewer chunks, and the time that they cost", header, rows)


# Chunk shapes of a store on its Pareto front that are shown.
FRONT_SHOWN = 5


def _models(plan: Plan) -> TextTable:
    """Return the coefficients of the models, one column for each store."""
    models = [each.model for each in plan.stores]

    def cells(shown: Callable[[CostModel], str]) -> list[str]:
        return [shown(each) if each else _NONE for each in models]

    rows = [
        [term, *cells(lambda model, place=place: quantity(model.coefficients[place], "seconds"))]  # type: ignore[misc]
        for place, term in enumerate(plan.planner.terms())
    ]
    rows.append(["median error", *cells(lambda model: f"{model.median_error:.0%}")])
    rows.append(["R²", *cells(lambda model: f"{model.r_squared:.2f}")])
    rows.append(["reads", *cells(lambda model: f"{model.reads:,}")])
    codecs = [each.codec or "" for each in plan.stores]
    if any(codecs):
        rows.append(["codec", *codecs])
    notes = [f"Errors are those of reads whose {plan.planner.noun} was held back from the fit."]
    return TextTable("Fitted cost models", ["term", *(each.label for each in plan.stores)], rows, notes)


def _seconds(value: float | None) -> str:
    return _NONE if value is None else quantity(value, "seconds")


def write_page(plan: Plan, path: Path) -> None:
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


def _markdown(plan: Plan) -> str:
    parts = [f"# {plan.planner.title}\n", _lead(plan) + "\n", " ".join(sentences(plan)) + "\n"]
    if code := plan.planner.code(plan.first.layout):
        parts.append(f"```python\n{code}```\n")
    parts.append("\n".join(f"- {each}" for each in _notes(plan)) + "\n")
    parts += [markdown(each) for each in tables(plan)]
    return "\n".join(parts)


def _html(plan: Plan) -> str:
    try:
        from format_bench.report.writers.html import environment, style

        template, shown_style = environment().get_template("plan.html"), style()
    except ModuleNotFoundError as error:
        reason = f"{error.name} is not installed"
        raise UnavailableError("a page as html", reason, install_hint("report")) from error
    return template.render(
        title=plan.planner.title,
        code=plan.planner.code(plan.first.layout),
        lead=_lead(plan),
        sentences=sentences(plan),
        caveats=_notes(plan),
        tables=tables(plan),
        style=shown_style,
    )


def _notes(plan: Plan) -> list[str]:
    return [*filter(None, [banner(plan)]), *caveats(plan)]


def _lead(plan: Plan) -> str:
    return f"{plan.planner.lead()}; {'cold' if plan.cold else 'warm'} reads"


def to_json(plan: Plan) -> dict[str, Any]:
    """Return a plan as JSON values; times in seconds, sizes in bytes."""
    first, planner = plan.first, plan.planner
    return {
        "use": {"store": first.layout.store, **planner.form_json(first.form)},
        "answer": dict(answer(plan)),
        "code": planner.code(first.layout),
        "explanation": sentences(plan),
        "remarks": _notes(plan),
        **planner.to_json(),
        **{name: getattr(plan, name) for name in ("cold", "turns", "load", "seconds", "metric")},
        "gains": [
            {"over": kind, **planner.form_json(over.form), "ratio": ratio, "low": low, "high": high}
            for over, kind, ratio, low, high in plan.gains
        ],
        "best": {s.label: planner.form_json(s.best.form) for s in plan.stores if s.best},
        "prediction_error": plan.prediction_error,
        "stores": [_store(plan, store) for store in plan.stores],
        "ranked": [_verified(plan, each) for each in plan.ranked],
    }


def _store(plan: Plan, store: StorePlan) -> dict[str, Any]:
    model = store.model
    return {
        "store": store.label,
        **{name: getattr(store, name) for name in ("codec", "level", "failure")},
        "model": model
        and {
            "coefficients": dict(zip(plan.planner.terms(), model.coefficients, strict=True)),
            **{name: getattr(model, name) for name in ("median_error", "r_squared", "reads", "fits")},
        },
        "front": [
            {**plan.planner.form_json(form), "seconds": seconds, "chunks_number": number}
            for form, seconds, number in store.front
        ],
    }


# Fields of a verified layout that JSON has by the same names.
_SAME = ("kinds", "predicted", "predicted_whole", "save_seconds", "size_bytes", "files")


def _verified(plan: Plan, each: Verified) -> dict[str, Any]:
    predicted: Sequence[float | None] = each.predicted_queries or [None] * len(plan.mix.queries)
    facts = zip(plan.mix.queries, predicted, each.query_seconds, strict=True)
    return {
        **{name: getattr(each.layout, name) for name in ("store", "codec", "level")},
        **plan.planner.form_json(each.form),
        **{name: getattr(each, name) for name in _SAME},
        "chunks_number": each.parts,
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
