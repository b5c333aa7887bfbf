"""Results of reads over links: a CSV table, and the models fitted to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from format_bench.links.link import NETWORK
from format_bench.links.model import SEGMENT_BYTES, LinkModel, Observation, fit
from format_bench.results import flat_csv

FITTED_MS = (0.0, 100.0)
"""Round-trip times that the model is fitted to."""

HELD_BACK_MS = (20.0, 50.0)
"""Round-trip times that it predicts."""

_BITS = 8
_PER_MEGA = 1e6

# A packet of 1500 bytes has headers of IP and TCP.
_PACKET_BYTES = 1500


@dataclass(frozen=True)
class LinkResult:
    """Reads of a format at one setting of the link."""

    format: str
    scheme: str
    question: str
    round_trip_ms: float
    mbit: float
    """Bandwidth in 10**6 bit/s."""
    seconds: float
    """Shortest wall time of the repeats."""
    cpu_seconds: float
    requests: int
    connections: int
    sent_bytes: int
    file_bytes: int
    repeats: int
    link: str
    """Kind of link: ``network`` or ``delays``."""
    rows: int
    error: str
    """Reason for a read without a result, as a sentence."""

    def observation(self) -> Observation:
        """Return what the model is fitted to."""
        is_network = self.link == NETWORK
        speed = self.mbit * _PER_MEGA / _BITS
        if is_network:
            speed *= SEGMENT_BYTES / _PACKET_BYTES
        round_trip = self.round_trip_ms / 1000
        return Observation(round_trip, speed, self.sent_bytes, is_network, self.seconds)


def to_csv(results: Iterable[LinkResult]) -> str:
    """Return results as CSV."""
    return flat_csv.to_csv(LinkResult, results)


def from_csv(text: str) -> list[LinkResult]:
    """Return the results of a CSV text."""
    return flat_csv.from_csv(LinkResult, text)


def model_of(results: Iterable[LinkResult]) -> LinkModel:
    """Return the model of one question to one format, fitted at the round-trip times `FITTED_MS`."""
    return fit([each.observation() for each in results if each.round_trip_ms in FITTED_MS])


def held_back_errors(model: LinkModel, results: Iterable[LinkResult]) -> list[float]:
    """Return the relative errors of the model's predictions at the times `HELD_BACK_MS`."""
    return [model.error(each.observation()) for each in results if each.round_trip_ms in HELD_BACK_MS]
