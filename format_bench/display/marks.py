"""Tables that put formats side by side: one for each data set, formats by metrics, the best marked."""

from __future__ import annotations

BEST = "*"
"""Mark of the smallest value of a metric; smaller is always better."""

TIE = "="
"""Mark of a value that differs from the smallest by no more than noise does."""


WORDS = {BEST: "best", TIE: "tie", "": ""}
"""The marks as charts and pages spell them."""
