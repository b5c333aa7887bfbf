"""Shipped results of the study of links: requests, bytes and round trips of remote reads.

The table is link_costs.csv, the output of `format-bench study links --facts`.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from importlib import resources

from format_bench.results import flat_csv

FAMILY = "tables"
"""Family of the formats; other families have formats of the same names."""

WHOLE = "whole"
"""The question for all columns."""


@dataclass(frozen=True)
class LinkCosts:
    """Costs of reading a format from a server."""

    format: str
    """Label of the adapter."""
    scheme: str
    """Protocol: ``http``, ``s3`` or ``root``."""
    question: str
    """`WHOLE`, or ``sparse`` for two columns."""
    requests: int
    connections: int
    sent_bytes: int
    file_bytes: int
    cpu_seconds: float
    round_trips: float
    """Round trips that the reader waits for one after the other."""
    transfer_share: float
    """Share of the time of transfer that adds to the wall time."""
    mean_error: float
    """Mean size of the relative errors of predicted times."""
    largest_error: float
    link: str
    """Kind of link: ``network`` or ``delays``."""
    dataset: str
    rows: int
    date: str
    libraries: str
    """Distributions and their versions."""

    @property
    def share(self) -> float:
        """Return the bytes sent, as a multiple of the file's size."""
        return self.sent_bytes / self.file_bytes


@functools.cache
def shipped() -> dict[str, LinkCosts]:
    """Return the costs of whole reads by format, each by its first protocol."""
    file = resources.files("format_bench.results").joinpath("link_costs.csv")
    found: dict[str, LinkCosts] = {}
    for each in flat_csv.from_csv(LinkCosts, file.read_text(encoding="utf-8")):
        if each.question == WHOLE:
            found.setdefault(each.format, each)
    return found
