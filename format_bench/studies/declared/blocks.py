"""Pages of studies: machine, time and load first, then blocks; and the material of their sections."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from adapter_core.errors import NoCommonCellsError
from adapter_core.files import write_atomically
from adapter_core.text import printable
from format_bench.comparison import Comparison, compare
from format_bench.results.display.markdown import table_lines
from format_bench.results.display.text import joined, plural, quantity
from format_bench.results.load import Results, published_results

if TYPE_CHECKING:
    from jinja2 import Environment

    from format_bench.report.charts.figures import Chart
    from format_bench.studies.declared.selection import Numbers

# Rows from which a table is folded: more than a screen, which a reader would have to pass.
LONG = 60


@dataclass(frozen=True)
class Block:
    """A part of a page: a heading, a paragraph, a table and a list, each of which may be missing."""

    title: str = ""
    text: str = ""
    header: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    alignment: str = ""
    """As `table_lines` takes it."""
    items: Sequence[str] = ()
    notes: Sequence[str] = ()
    """The sentences that numbers in brackets refer to, from 1 on."""
    level: int = 2
    fold: bool = False
    """Whether the table is folded however short it is."""

    @property
    def folded(self) -> bool:
        """Whether the table opens on demand."""
        return self.fold or len(self.rows) > LONG


@dataclass(frozen=True)
class Page:
    """A page before it is written."""

    title: str
    question: str
    blocks: Sequence[Block]
    method: str = ""
    metadata: Sequence[dict[str, Any]] | None = None
    """Metadata of the runs, oldest first; possibly empty. None for a page that nothing was run for."""
    chart: Chart | None = None

    def markdown(self, picture: str = "", *, folds: bool = True) -> str:
        """Return the page in Markdown.

        Parameters
        ----------
        picture : str
            Path of the picture relative to the page; empty if it was not written.
        folds : bool
            Fold long tables, with HTML.
        """
        shown = {"file": picture, "alt": self.chart.alt} if picture and self.chart else None
        text = (
            _environment()
            .get_template("page.md.j2")
            .render(
                title=self.title,
                question=self.question.strip(),
                blocks=self.blocks,
                method=self.method.strip(),
                circumstances="" if self.metadata is None else circumstances(self.metadata),
                picture=shown,
                folds=folds,
            )
        )
        # Each part of a block begins and ends with an empty line, and any may be missing.
        return re.sub(r"\n{3,}", "\n\n", text)

    def write(self, path: Path) -> None:
        """Write the page into a file, and its picture as SVG beside it."""
        picture = path.with_suffix(".svg") if self.chart else None
        if picture and self.chart:
            with write_atomically(picture) as temporary:
                temporary.write_text(self.chart.svg + "\n", encoding="utf-8")
        with write_atomically(path) as temporary:
            temporary.write_text(self.markdown(picture.name if picture else ""), encoding="utf-8")


@functools.cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    found = Environment(
        loader=PackageLoader("format_bench.studies.declared"),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701 (Markdown)
    )
    found.filters["table"] = lambda block: table_lines(block.header, block.rows, block.alignment)
    return found


def circumstances(metadata: Sequence[dict[str, Any]]) -> str:
    """Return a sentence on the machine, the time and the load of runs, from their metadata."""
    if not metadata:
        return "*The results do not say on what machine, when and under what load they were measured.*"
    machines = dict.fromkeys(map(_machine, metadata))
    days = sorted(
        str(each[name])[:10] for each in metadata for name in ("started", "ended") if each.get(name)
    )
    when = " to ".join(dict.fromkeys((days[0], days[-1]))) if days else "an unknown day"
    loads = list(chain.from_iterable(_loads(each) for each in metadata))
    load = f"load {_span(loads)}" if loads else "load unknown"
    runs = plural(len(metadata), "run")
    return f"*Measured on {printable(joined(machines, most=3))}; {when}, {runs}, {load}.*"


def _machine(facts: dict[str, Any]) -> str:
    cpu, memory, system = (facts.get(name) or {} for name in ("cpu", "memory", "system"))
    parts = [
        str(cpu.get("model") or "an unknown processor"),
        plural(cpu["usable"], "CPU") if isinstance(cpu.get("usable"), int) else "",
        quantity(memory["total_bytes"], "bytes") if memory.get("total_bytes") else "",
        str(system.get("os") or ""),
    ]
    return ", ".join(filter(None, parts))


def _loads(facts: dict[str, Any]) -> Iterable[float]:
    """Yield the load of the last minute at the start and at the end of a run, as far as known."""
    load = facts.get("load_average") or {}
    for name in ("start", "end"):
        if load.get(name):
            yield float(load[name][0])


def _span(values: Sequence[float]) -> str:
    low, high = (f"{each:.1f}" for each in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


MISSING = "-"


@dataclass(frozen=True)
class Context:
    """Material of sections."""

    results: Results
    numbers: Numbers
    published: str
    explanations: dict[str, str]
    rows: Sequence[Any] = ()
    """The rows of a study with an instrument."""

    @functools.cached_property
    def comparison(self) -> Comparison | None:
        """The published results beside ours; None if nothing is common to them."""
        try:
            return compare(published_results(self.published), self.results)
        except NoCommonCellsError:
            return None


class SectionBase(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, tag_field="kind"):
    """Fields of all sections."""

    title: str = ""
    text: str = ""
    select: dict[str, Any] = {}
    """Patterns that all its numbers share."""
    fold: bool = False

    def blocks(self, context: Context) -> Iterator[Block]:
        """Yield the blocks of the section."""
        raise NotImplementedError


def replaced(text: str, values: dict[str, str]) -> str:
    """Return a text with values in place of their names in braces."""
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def imported(place: str) -> Any:
    """Import the object that a declaration names as "module:name"."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
