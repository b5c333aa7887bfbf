"""Trials of links: one format's file, read at every setting of a link."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import data_formats
from adapter_core.errors import LinkError
from data_generator import catalog
from format_bench.links.client import Answer, digest_of
from format_bench.links.link import Link, Question, Reading
from format_bench.links.results import FITTED_MS, HELD_BACK_MS, LinkResult

if TYPE_CHECKING:
    from format_bench.links.endpoints import ReadingClient

DATASET = "kaons"
SPARSE = ["H1_PX", "H1_isMuon"]

QUESTIONS: Mapping[str, list[str] | None] = {"whole": None, "sparse": SPARSE}
"""Columns of each question; None for all."""

MBITS = (100.0, 1000.0)
"""Bandwidths in 10**6 bit/s."""

_BYTES_PER_MBIT = 125_000

LONG_SECONDS = 2.0
"""Time of a read from which it is not repeated."""


@dataclass(frozen=True)
class LinkTrial:
    """A format and a protocol to be tried.

    Parameters
    ----------
    label : str
        Label of the adapter.
    scheme : str
        One of its protocols.
    rows : int
        Rows of the data set `DATASET`.
    repeats : int
        Reads at each setting; the shortest counts.
    mbits : tuple of float
        Bandwidths in 10**6 bit/s.
    round_trips_ms : tuple of float
        Round-trip times in milliseconds.
    """

    label: str
    scheme: str
    rows: int
    repeats: int
    mbits: tuple[float, ...] = MBITS
    round_trips_ms: tuple[float, ...] = tuple(sorted(FITTED_MS + HELD_BACK_MS))

    def run(self, link: Link) -> Iterator[LinkResult]:
        """Save the file where the link serves it, and read it at all settings.

        A client reads all settings of a question, each at a port of its own, after a read that does not
        count and imports the libraries. A client that does not answer ends its question.
        """
        adapter = data_formats.find(self.label)
        path = link.bucket / f"{self.label.lower().replace('[', '_').strip(']')}{adapter.suffix}"
        adapter.save(catalog.table(DATASET, self.rows).df, path)
        try:
            for name, columns in QUESTIONS.items():
                question = Question(self.label, self.scheme, columns)
                expected = digest_of(adapter.read(path, columns))
                size = adapter.size_bytes(path)
                with link.client() as client:
                    for setting, readings in self._readings(link, client, path.name, question):
                        reading = min(readings, key=lambda each: each.answer.seconds)
                        found = self._result(name, setting, reading, link.kind)
                        is_wrong = not found.error and reading.answer.digest != expected
                        error = "other values than in the local file" if is_wrong else found.error
                        yield replace(found, file_bytes=size, repeats=len(readings), error=error)
        finally:
            adapter.remove(path)

    def _readings(
        self, link: Link, client: ReadingClient, name: str, question: Question
    ) -> Iterator[tuple[tuple[float, float], list[Reading]]]:
        """Provide bandwidth and round-trip time of each setting, and the repeated reads."""
        settings = [(mbit, ms) for mbit in self.mbits for ms in self.round_trips_ms]
        link.set(0.0)
        try:
            link.read(client, name, question)
            for mbit, ms in settings:
                link.set(ms / 1000, mbit * _BYTES_PER_MBIT)
                found: list[Reading] = []
                while len(found) < self.repeats:
                    found.append(link.read(client, name, question))
                    if found[-1].answer.error or found[-1].answer.seconds > LONG_SECONDS:
                        break
                yield (mbit, ms), found
        except LinkError as error:
            yield settings[0], [Reading(Answer(error=str(error)), 0, 0, 0)]

    def _result(
        self, question: str, setting: tuple[float, float], reading: Reading, kind: str
    ) -> LinkResult:
        answer = reading.answer
        return LinkResult(
            format=self.label,
            scheme=self.scheme,
            question=question,
            round_trip_ms=setting[1],
            mbit=setting[0],
            seconds=round(answer.seconds, 5),
            cpu_seconds=round(answer.cpu_seconds, 5),
            requests=reading.requests,
            connections=reading.connections,
            sent_bytes=reading.sent_bytes,
            file_bytes=0,
            repeats=1,
            link=kind,
            rows=self.rows,
            error=answer.error,
        )
