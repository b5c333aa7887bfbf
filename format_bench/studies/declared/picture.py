"""Picture of a study: the numbers of each claim on one axis, by the bound that decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from format_bench.report.charts.figures import ACCENT, INK, LABEL, QUIET, TEXT, Chart, Panel, fitted
from format_bench.results.display.text import format_ratio
from format_bench.studies.declared.claims import Claim
from format_bench.studies.declared.verdicts import CONFIRMED, Verdict

WIDTH, ROW, NAME_WIDTH, VERDICT_WIDTH, FOOT, EDGE = 860.0, 26.0, 380.0, 150.0, 40.0, 8.0

Judged = Sequence[tuple[str, Claim, Verdict]]


def chart(title: str, judged: Judged, of_paper: Mapping[str, Verdict]) -> Chart | None:
    """Return the picture of judged claims; None if none was measured.

    Parameters
    ----------
    title : str
        Title of the page.
    judged : sequence of tuple
        Extent, claim and verdict.
    of_paper : dict
        Verdicts of the same rules on the published numbers, by claim.
    """
    shown = [each for each in judged if each[2].is_measured]
    if not shown:
        return None
    height = ROW * len(shown) + FOOT
    alt = " ".join(f"{claim.claim.rstrip('.')}: {verdict.verdict}." for _, claim, verdict in shown)
    note = "left of the line: as the paper says; filled: here, open: the published numbers"
    return Chart(
        f"{title}: findings", alt, height, lambda panel: _draw(panel, shown, of_paper), note, WIDTH
    )


def distances(verdict: Verdict) -> list[float]:
    """Return the ratios of a verdict by the first bound of each; above 1 they contradict the claim."""
    if verdict.score is not None:
        return [verdict.score]
    found = []
    for each in verdict.ratios:
        name, bound = each.bounds[0] if each.bounds else ("", 0.0)
        if bound > 0 and each.value > 0:
            found.append(bound / each.value if name in {"above", "at_least"} else each.value / bound)
    return found


def _draw(panel: Panel, shown: Judged, of_paper: Mapping[str, Verdict]) -> None:
    axes = panel.add_axes(NAME_WIDTH, VERDICT_WIDTH, 0, FOOT)
    here = [distances(verdict) for *_, verdict in shown]
    theirs = [
        distances(of_paper[claim.claim]) if claim.claim in of_paper else [] for _, claim, _ in shown
    ]
    every = [value for found in (*here, *theirs) for value in found] or [1.0]
    axes.set_xscale("log")
    axes.set(xlim=(min(*every, 0.5) / 1.5, max(*every, 2.0) * 1.5), ylim=(len(shown), 0))
    axes.set_yticks([])
    axes.grid(visible=False)
    axes.axvline(1, color=INK, linewidth=1)
    axes.xaxis.set_major_formatter(lambda value, _: format_ratio(value))
    axes.minorticks_off()
    axes.set_xlabel("distance of a number from the bound of its finding, as a factor")
    for number, (_, claim, verdict) in enumerate(shown):
        middle = number + 0.5
        colour = ACCENT if verdict.kind == CONFIRMED else QUIET
        axes.plot(
            theirs[number],
            [middle] * len(theirs[number]),
            "o",
            color=INK,
            fillstyle="none",
            markersize=8,
        )
        axes.plot(here[number], [middle] * len(here[number]), "o", color=colour, markersize=5)
        y = panel.heading + ROW * middle + TEXT / 3
        panel.add_text(0, y, fitted(claim.claim, LABEL, NAME_WIDTH - EDGE), color=INK, size=LABEL)
        text = fitted(verdict.verdict, TEXT, VERDICT_WIDTH - EDGE)
        panel.add_text(panel.width - VERDICT_WIDTH + EDGE, y, text, color=colour)
