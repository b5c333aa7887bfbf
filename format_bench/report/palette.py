"""One colour for each format, the same in all charts of a report."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from format_bench.report.cells import Entry

# After P. Tol, "Colour schemes" (2021), its muted scheme, which colour-blind people tell apart, and
# M. Okabe and K. Ito, "Color Universal Design" (2008); darkened where needed for 3:1 against white
# (WCAG 2.2, 1.4.11). No chart relies on colour alone: each bar and point has its name beside it.
HUES = (
    "#0072b2",
    "#b07800",
    "#117733",
    "#aa4499",
    "#2a8c80",
    "#c8553d",
    "#332288",
    "#7d7d1e",
    "#882255",
    "#3a8fc4",
    "#6b6b6b",
    "#cc6677",
)
_DARKER = 0.82
"""Of each channel, for each further engine of a format."""


def colours(entries: Iterable[Entry]) -> dict[Entry, str]:
    """Return a colour, as in "#0072b2", for each entry.

    Formats take the hues in turn. What has the same name before the bracket has the same hue, each
    engine darker than the one before; codecs do not change the colour.
    """
    engines: dict[str, list[str]] = {}
    found = {}
    for entry in entries:
        base = entry.format.partition("[")[0]
        known = engines.setdefault(base, [])
        if entry.format not in known:
            known.append(entry.format)
        hue = HUES[list(engines).index(base) % len(HUES)]
        found[entry] = _darkened(hue, known.index(entry.format))
    return found


def _darkened(colour: str, steps: int) -> str:
    channels = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(channel * _DARKER**steps):02x}" for channel in channels)
