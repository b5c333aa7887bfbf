"""Table of results: a row for each configuration, a column for each measure, the best marked.

The terminal, asv's comparison, reports, the site and the codec grid all show tables made here, so that
the same results have the same values, marks and notes in each of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from adapter_core.adapter import format_of
from format_bench.results.candidates import Configuration
from format_bench.results.codec_costs import CODEC_COSTS, CodecCost, codec_costs
from format_bench.results.display.markdown import TextTable
from format_bench.results.display.text import quantity
from format_bench.results.groups import NOT_RUN, ComparisonGroup, ResultCell
from format_bench.results.marks import STYLES
from format_bench.results.metrics import METRICS, Measure
from format_bench.results.status import CellStatus


@dataclass(frozen=True)
class FormattedCell:
    """A cell as text."""

    text: str
    """The value with its unit, or the status."""
    mark: str
    """`BEST`, `TIE` or empty."""
    value: float | None
    """For sorting; None if there is none."""
    tip: str
    """Interval and number of samples, or the reason why the cell is empty."""
    detail: str = ""
    """An addition in brackets behind the value, in tables that have no tips."""
    notes: tuple[str, ...] = ()
    """Sentences for below the table."""
    shade: str = ""
    """Shade of the background in a heat map, whose values are ratios."""

    @property
    def plain_text(self) -> str:
        """The text with mark and detail, e.g. "1.2 MB* (0.400)"."""
        return f"{self.text}{self.mark}" + (f" ({self.detail})" if self.detail else "")


NOTHING = FormattedCell("-", "", None, "no codec, or no value to relate")

Column = Mapping["Configuration", FormattedCell]


@dataclass(frozen=True)
class ResultTable:
    """Configurations by measures."""

    header: list[str]
    """The name of each column, without the configurations' column."""
    rows: list[tuple[Configuration, list[FormattedCell]]]
    title: str = ""
    losses: Mapping[Configuration, str] = field(default_factory=dict)
    """Losses of values of lossy configurations, in words."""

    @classmethod
    def of(
        cls,
        configurations: Iterable[Configuration],
        columns: Iterable[tuple[str, Column]],
        title: str = "",
        losses: Mapping[Configuration, str] | None = None,
    ) -> ResultTable:
        """Return the table of some columns, each with its name."""
        columns = list(columns)
        rows = [(each, [column.get(each, NOTHING) for _, column in columns]) for each in configurations]
        return cls([name for name, _ in columns], rows, title, losses or {})

    def parts(self, most: int) -> Iterator[ResultTable]:
        """Yield tables of at most so many columns, which fit a page of paper."""
        for start in range(0, len(self.header), most):
            part = slice(start, start + most)
            yield replace(
                self, header=self.header[part], rows=[(each, cells[part]) for each, cells in self.rows]
            )


def result_table(group: ComparisonGroup) -> ResultTable:
    """Return all measured cells of a group, and beside them the savings and costs of codecs."""
    # Pages link the measured columns to graphs, and count on their place before the others.
    columns = [(str(each), measured_column(group, each)) for each in group.measures]
    costs = ((each.title.lower(), cost_column(group, each)) for each in CODEC_COSTS)
    with_costs = [*columns, *(each for each in costs if each[1])]
    return ResultTable.of(group.configurations, with_costs, losses=group.losses)


def codec_table(group: ComparisonGroup, configurations: Sequence[Configuration]) -> ResultTable:
    """Return sizes and times of some configurations, each beside its cost of the codec.

    Only these configurations are compared with each other.
    """
    columns: list[tuple[str, Column]] = []
    for cost in CODEC_COSTS:
        measure = cost.measure_in(group)
        columns += [
            (measure.metric, measured_column(group, measure, configurations)),
            ("ratio" if measure.metric == "size" else "added", cost_column(group, cost)),
        ]
    return ResultTable.of(configurations, columns, losses=group.losses)


def measured_column(
    group: ComparisonGroup,
    measure: Measure,
    configurations: Sequence[Configuration] | None = None,
) -> dict[Configuration, FormattedCell]:
    """Return the cells of a measure with their marks, by default of all configurations."""
    names = group.configurations if configurations is None else configurations
    found = group.marks(measure, names)
    return {
        each: formatted_cell(each, measure, group.cell(each, measure), found.get(each, ""))
        for each in names
    }


def cost_column(group: ComparisonGroup, cost: CodecCost) -> dict[Configuration, FormattedCell]:
    """Return the costs of the codecs in a group; empty if there are none."""
    return {
        each: FormattedCell(
            cost.show(cell.value or 0, cell.unit),
            "",
            cell.value,
            _interval(cell),
            " to ".join(cost.show(end, cell.unit) for end in cell.interval or ()),
        )
        for each, cell in codec_costs(cost, group).items()
    }


def formatted_cell(
    configuration: Configuration, measure: Measure, cell: ResultCell, mark: str
) -> FormattedCell:
    """Return a measured cell as text, with the sentence that belongs below the table."""
    if cell.value is None:
        return FormattedCell(cell.status, "", None, cell.sentence, notes=(_reason(configuration, cell),))
    tip = f"median of {len(cell.samples)}, {_interval(cell)}" if cell.interval else cell.sentence
    if cell.noise is not None:
        tip += f"; another run may differ by {cell.noise:.0%}"
    has_remark = cell.sentence and METRICS[measure.metric].remarked
    notes = (_about(configuration, cell.sentence),) if has_remark else ()
    return FormattedCell(quantity(cell.value, cell.unit), mark, cell.value, tip, notes=notes)


def text_table(
    title: str,
    table: ResultTable,
    lead: Mapping[str, Callable[[Configuration], str]] | None = None,
    escape: Callable[[str], str] = str,
) -> TextTable:
    """Return a table of results as text, with numbered notes.

    Parameters
    ----------
    title : str
        The heading.
    table : ResultTable
        The cells.
    lead : mapping, optional
        The first columns, a function of the configuration by name; by default its name under "format".
    escape : callable
        Applied to text from records, for outputs that would interpret it.
    """
    lead = lead or {"format": str}
    notes: list[str] = []
    lossy = {each: escape(_about(each, words)) for each, words in table.losses.items()}
    first, *others = lead.values()
    rows = [
        [with_notes(escape(first(each)), [lossy[each]] if each in lossy else [], notes)]
        + [escape(text_of(each)) for text_of in others]
        + [with_notes(cell.plain_text, map(escape, cell.notes), notes) for cell in cells]
        for each, cells in table.rows
    ]
    return TextTable(escape(title), [*lead, *table.header], rows, notes)


def with_notes(text: str, sentences: Iterable[str], notes: list[str]) -> str:
    """Return a text followed by the numbers of its notes; new ones are added to the notes."""
    for sentence in sentences:
        if sentence not in notes:
            notes.append(sentence)
        text += f" [{notes.index(sentence) + 1}]"
    return text


def style_of(text: str) -> str:
    """Return the style of a cell's text on a terminal: by its mark, or of an empty cell."""
    # The mark is the last character before a detail in brackets or the number of a note.
    value, *_ = re.split(r" [(\[]", text, maxsplit=1)
    return "yellow" if value in _EMPTY else STYLES.get(value[-1:], "")


_EMPTY = {NOT_RUN.status, *(each.value for each in CellStatus if each is not CellStatus.VALUE)}


def _interval(cell: ResultCell) -> str:
    if not cell.interval:
        return ""
    low, high = (quantity(end, cell.unit) for end in cell.interval)
    return f"interval from {low} to {high}"


def _reason(configuration: Configuration, cell: ResultCell) -> str:
    if cell.status == NOT_RUN.status:
        return f"{cell.status}: {cell.sentence}"
    # Sentences of adapters name the format, and are the same for all levels of a codec, and all engines
    # that are to ask its files: one note.
    refusal = f"{format_of(configuration.format)} cannot store "
    if cell.sentence.startswith((configuration.format, refusal)):
        return cell.sentence
    return f"{configuration}: {cell.status}: {cell.sentence}"


def _about(configuration: Configuration, sentence: str) -> str:
    return sentence if sentence.startswith(configuration.format) else f"{configuration}: {sentence}"
