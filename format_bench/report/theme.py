"""Colours of reports and sites by name, each for light and for dark screens.

Pages have them as variables that follow the reader's setting, and charts in pages refer to these; files
of charts have the light ones, on paper. Against the paper of their own screen, text has a contrast of
4.5:1 or more and marks have 3:1 (WCAG 2.2, 1.4.3 and 1.4.11); the tests compute both.
"""

from __future__ import annotations

THEME = {
    "paper": ("#ffffff", "#16181c"),
    "ink": ("#1d2025", "#e8e8e4"),
    "quiet": ("#5a606b", "#a6acb7"),
    "accent": ("#0b5d3b", "#5cc795"),
    # The second and the third of three lines; accent is the first.
    "second": ("#0072b2", "#5ab0e8"),
    "third": ("#b4560f", "#e59a5c"),
    "neutral": ("#8591a1", "#707a88"),
    "axis": ("#8b9099", "#6f757e"),
    "edge": ("#8a8f98", "#7d838d"),
    "focus": ("#1f6feb", "#6aa8ff"),
    # Lines that only guide the eye, and backgrounds.
    "grid": ("#e4e5e0", "#2c2f36"),
    "line": ("#dcddd7", "#3a3d44"),
    "faint": ("#f4f4f1", "#202328"),
    "band": ("#9fc4b2", "#2f6b4f"),
    "shadow": ("#00000033", "#000000aa"),
}

SHADES = {
    "empty": THEME["faint"],
    "plain": THEME["faint"],
    "best": ("#cdebdb", "#12432c"),
    "tie": ("#e4f4ec", "#173126"),
    "under-2": ("#fcf8ef", "#26231c"),
    "under-5": ("#f8ecd3", "#352b18"),
    "under-10": ("#f3dcae", "#473618"),
    "under-30": ("#ecc68a", "#5c421a"),
    "under-100": ("#e3ab6c", "#744c1d"),
    "over-100": ("#d89058", "#8a5420"),
}
"""Backgrounds of the cells of heat maps, with text in ink."""

VARIABLES = {light: f"var(--{name})" for name, (light, _) in THEME.items()}
"""References to the variables of a page by the light colour, for charts, which are drawn in these."""
