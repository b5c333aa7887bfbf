"""Reads of a file over links: trials, their results, and the model of their time that is fitted to them.

wall time = CPU + round trips * round-trip time + share * transfer

The unknowns are not negative: CPU and other fixed time; round trips that are waited for one after the
other, of requests and of handshakes; and the share of the transfer that adds to the wall time. Round
trips are unknown only where the proxy did not see the requests: a fit cannot separate them from the
transfer where bytes take most of the time, so counted ones are taken for known. The transfer is bytes /
bandwidth and, over TCP, the round trips of its slow start: see `transfer_seconds`. The fit minimizes the
squares of relative errors: C. Lawson and R. Hanson, Solving Least Squares Problems, chapter 23.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import NamedTuple

import data_formats
from adapter_core.errors import InvalidResultsError
from data_generator import catalog
from format_bench.network.client import PART, READ, TABLE
from format_bench.network.places import NETWORK, Link, Traffic
from format_bench.network.trials import Setting, StepCost, Trial
from format_bench.results.records import Record
from format_bench.results.study_rows import StudyForm

# Payload of a packet of 1500 bytes, without the headers of IP and TCP.
SEGMENT_BYTES = 1448

# Bytes that TCP sends before the first acknowledgement: RFC 6928.
INITIAL_WINDOW_BYTES = 10 * SEGMENT_BYTES

# Half of Linux' default of the largest buffer for receiving, 6 MiB (net.ipv4.tcp_rmem).
LARGEST_WINDOW_BYTES = 3 << 20


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


def fit(observations: Sequence[Observation], round_trips: float | None = None) -> LinkModel:
    """Return the model with the least sum of squared relative errors.

    Parameters
    ----------
    observations : sequence of Observation
        At least three settings, whose round-trip times and bandwidths differ.
    round_trips : float, optional
        The counted round trips, if they are known.
    """
    import numpy as np
    from scipy.optimize import nnls  # type: ignore[import-untyped]

    rows = np.array([[1.0, each.round_trip_seconds, transfer_seconds(each)] for each in observations])
    seconds = np.array([each.seconds for each in observations])
    if round_trips is None:
        found, _ = nnls(rows / seconds[:, None], np.ones(len(seconds)))
        return LinkModel(*map(float, found))
    left = seconds - round_trips * rows[:, 1]
    (cpu, share), _ = nnls(rows[:, [0, 2]] / seconds[:, None], left / seconds)
    return LinkModel(float(cpu), round_trips, float(share))


DATASET = "kaons"
SPARSE = ("H1_PX", "H1_isMuon")

QUESTIONS: Mapping[str, str] = {"whole": READ, "sparse": PART}
"""Steps of the questions: all columns, and `SPARSE`."""

# Bandwidths in 10**6 bit/s: of a usual line to the outside, and of a local network.
MBITS = (100.0, 1000.0)

# Round-trip times that the model is fitted to: the ends, as it has to be right between them.
FITTED_MS = (0.0, 100.0)

# Round-trip times that it predicts.
HELD_BACK_MS = (20.0, 50.0)

# Time of a read from which it is not repeated: chance of some milliseconds is below a percent.
LONG_SECONDS = 2.0

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
    seconds: float = 0.0
    """Shortest wall time of the repeats."""
    cpu_seconds: float = 0.0
    requests: int = 0
    connections: int = 0
    sent_bytes: int = 0
    file_bytes: int = 0
    repeats: int = 1
    link: str = NETWORK
    """Kind of link: ``network`` or ``delays``."""
    rows: int = 0
    error: str = ""
    """Reason for a read without a result, as a sentence."""
    waits: int = 0
    """Round trips waited for one after the other, as the proxy saw them; 0 if unknown."""

    def observation(self) -> Observation:
        """Return the values that the model is fitted to."""
        is_network = self.link == NETWORK
        speed = self.mbit * _PER_MEGA / _BITS
        if is_network:
            speed *= SEGMENT_BYTES / _PACKET_BYTES
        round_trip = self.round_trip_ms / 1000
        return Observation(round_trip, speed, self.sent_bytes, is_network, self.seconds)


class _Form(StudyForm[LinkResult]):
    """Form of the records, whose conditions have the link as the axis `link` names it."""

    def records(self, row: LinkResult, run_id: str) -> Iterator[Record]:
        """Yield the records of a row."""
        link = str(Setting(row.round_trip_ms, row.mbit))
        for each in super().records(row, run_id):
            conditions = {name: text for name, text in each.conditions.items() if name not in _OF_LINK}
            remark = each.sentence or f"{_LEAST_OF}{row.repeats}"
            kind = {"link kind": row.link}
            yield replace(each, conditions={**conditions, "link": link, **kind}, sentence=remark)

    def rows(self, found: Iterable[Record]) -> list[LinkResult]:
        """Return the rows of records."""
        plain = [_plain(each) for each in found if each.suite == self.suite]
        # Results keep one size of a file at a link, though its reads may have different repeats.
        sizes = {
            (e.format, e.rows, e.conditions.get("place")): e.value for e in plain if e.metric == "size"
        }
        rows = super().rows(plain)
        return [
            replace(each, file_bytes=int(sizes.get((each.format, each.rows, each.scheme)) or 0))
            for each in rows
        ]


def _plain(record: Record) -> Record:
    """Return a record with a condition for each field of a row."""
    setting = Setting.of(record.conditions.get("link", ""))
    if setting is None:
        raise InvalidResultsError(f"{record.format}: a record of the study of links names no link")
    conditions = {
        **record.conditions,
        "round trip ms": repr(setting.round_trip_ms),
        "mbit": repr(setting.mbit),
        "link": record.conditions.get("link kind", NETWORK),
    }
    is_remark = record.sentence.startswith(_LEAST_OF)
    conditions["repeats"] = record.sentence.removeprefix(_LEAST_OF) if is_remark else "1"
    return replace(record, conditions=conditions, sentence="" if is_remark else record.sentence)


_OF_LINK = {"round trip ms", "mbit", "repeats"}
_LEAST_OF = "least of repeats: "

FORM = _Form(
    suite="links",
    of=LinkResult,
    values={
        "file_bytes": ("size", ""),
        "seconds": "query time",
        "cpu_seconds": "query CPU time",
        "requests": "query requests",
        "connections": "connections",
        "sent_bytes": "query bytes",
        "waits": "round trips",
    },
    named={"scheme": "place", "question": "query"},
    dataset=DATASET,
    reason="error",
    threads="all",
)


def counted(results: Iterable[LinkResult]) -> float | None:
    """Return the round trips that the proxy counted in reads of one question; None if it saw none.

    Longer round trips separate requests that wait for each other from concurrent ones.
    """
    seen = [each for each in results if each.waits]
    longest = max((each.round_trip_ms for each in seen), default=0.0)
    return median(each.waits for each in seen if each.round_trip_ms == longest) if longest else None


def model_of(results: Sequence[LinkResult]) -> LinkModel:
    """Return the model of one question to one format, fitted at the round-trip times `FITTED_MS`."""
    fitted = [each.observation() for each in results if each.round_trip_ms in FITTED_MS]
    return fit(fitted, counted(results))


def held_back_errors(model: LinkModel, results: Iterable[LinkResult]) -> list[float]:
    """Return the relative errors of the model's predictions at the times `HELD_BACK_MS`."""
    return [model.error(each.observation()) for each in results if each.round_trip_ms in HELD_BACK_MS]


def link_results(  # noqa: PLR0913 (a grid of settings)
    link: Link,
    label: str,
    scheme: str,
    rows: int,
    repeats: int = 1,
    *,
    mbits: Sequence[float] = MBITS,
    round_trips_ms: Sequence[float] = tuple(sorted(FITTED_MS + HELD_BACK_MS)),
) -> Iterator[LinkResult]:
    """Save a file of `DATASET` where the link serves it, and read it at all settings.

    A client reads all settings of a question, each at a port of its own.

    Parameters
    ----------
    link : Link
        The link.
    label, scheme : str
        Label of the adapter, and one of its protocols.
    rows : int
        Rows of the table.
    repeats : int
        Reads at each setting; the shortest counts.
    mbits, round_trips_ms : sequence of float
        Bandwidths in 10**6 bit/s, and round-trip times in milliseconds.
    """
    adapter = data_formats.find(label)
    path = link.bucket / f"{label.lower().replace('[', '_').strip(']')}{adapter.suffix}"
    adapter.save(catalog.table(DATASET, rows).df, path)
    trial = Trial(TABLE, label, str(path.resolve()), scheme, path.name, SPARSE)
    try:
        size = adapter.size_bytes(path)
        for question, step in QUESTIONS.items():
            for cost in trial.costs(
                link, round_trips_ms, repeats, mbits=mbits, steps=[step], long_seconds=LONG_SECONDS
            ):
                yield _result(question, scheme, cost, size, link.kind, rows)
    finally:
        adapter.remove(path)


def _result(  # noqa: PLR0913, PLR0917 (facts of a trial)
    question: str, scheme: str, cost: StepCost, file_bytes: int, link: str, rows: int
) -> LinkResult:
    traffic = cost.traffic or Traffic()
    return LinkResult(
        format=cost.label,
        scheme=scheme,
        question=question,
        round_trip_ms=cost.round_trip_ms,
        mbit=cost.mbit,
        seconds=round(cost.seconds, 5),
        cpu_seconds=round(cost.cpu_seconds, 5),
        requests=traffic.reads + traffic.writes,
        connections=traffic.connections,
        sent_bytes=traffic.down_bytes,
        waits=traffic.waits,
        file_bytes=file_bytes,
        repeats=cost.repeats,
        link=link,
        rows=rows,
        error=cost.error,
    )
