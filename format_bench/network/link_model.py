"""Model of the time of a read over a link, fitted to measured times.

wall time = CPU + round trips * round-trip time + share * transfer

The three unknowns are not negative: CPU and other fixed time; round trips that are waited for one after
the other, of requests and of handshakes; and the share of the transfer that adds to the wall
time. The transfer is bytes / bandwidth and, over TCP, the round trips of its slow start: see
`transfer_seconds`. The fit minimizes the squares of relative errors: C. Lawson and R. Hanson, Solving
Least Squares Problems, chapter 23.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

SEGMENT_BYTES = 1448
"""Payload of a packet of 1500 bytes, without the headers of IP and TCP."""

INITIAL_WINDOW_BYTES = 10 * SEGMENT_BYTES
"""Bytes that TCP sends before the first acknowledgement: RFC 6928."""

LARGEST_WINDOW_BYTES = 3 << 20
"""Half of Linux' default of the largest buffer for receiving, 6 MiB (net.ipv4.tcp_rmem)."""


class Observation(NamedTuple):
    """Time of a read at one setting of the link."""

    round_trip_seconds: float
    bytes_per_second: float
    sent_bytes: int
    has_slow_start: bool
    """True if the bytes went over TCP with the delay; False if the server made it."""
    seconds: float = 0.0
    """Wall time."""


def transfer_seconds(setting: Observation) -> float:
    """Return the time in which TCP carries the bytes by one connection.

    In slow start the window doubles with each round trip (RFC 5681, section 3.1), until it is as large
    as the product of bandwidth and round-trip time, or as the receiver's. Then the bandwidth is the
    limit, or a window in each round trip.
    """
    round_trip, left = setting.round_trip_seconds, float(setting.sent_bytes)
    if not setting.has_slow_start or not round_trip:
        return left / setting.bytes_per_second
    speed = min(setting.bytes_per_second, LARGEST_WINDOW_BYTES / round_trip)
    window, seconds = float(INITIAL_WINDOW_BYTES), 0.0
    while window < min(left, speed * round_trip):
        left -= window
        seconds += round_trip
        window *= 2
    return seconds + left / speed


class LinkModel(NamedTuple):
    """Fitted parameters of the time of a read."""

    cpu_seconds: float
    """Time that depends on neither round trips nor bandwidth."""
    round_trips: float
    """Round trips that are waited for one after the other, without slow start's."""
    transfer_share: float
    """Share of the time of transfer that adds to the wall time."""

    def seconds(self, setting: Observation) -> float:
        """Return the wall time at a setting of the link."""
        return (
            self.cpu_seconds
            + self.round_trips * setting.round_trip_seconds
            + self.transfer_share * transfer_seconds(setting)
        )

    def error(self, seen: Observation) -> float:
        """Return the relative error of the prediction of an observation; 0.1 if it is 10 % too long."""
        return self.seconds(seen) / seen.seconds - 1


def fit(observations: Sequence[Observation]) -> LinkModel:
    """Return the model with the least sum of squared relative errors.

    Parameters
    ----------
    observations : sequence of Observation
        At least three settings, whose round-trip times and bandwidths differ.
    """
    import numpy as np
    from scipy.optimize import nnls  # type: ignore[import-untyped]

    rows = np.array([[1.0, each.round_trip_seconds, transfer_seconds(each)] for each in observations])
    seconds = np.array([each.seconds for each in observations])
    found, _ = nnls(rows / seconds[:, None], np.ones(len(seconds)))
    return LinkModel(*map(float, found))
