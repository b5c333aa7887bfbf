"""Figures of maps of reads as records, and the maps beside them, which the records name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from format_bench.results.load import MAPS
from format_bench.results.status import CellStatus
from format_bench.results.study_rows import StudyForm
from format_bench.studies.declared import rows

if TYPE_CHECKING:
    from format_bench.studies.read_maps.session import Data, Mapped


@dataclass(frozen=True)
class ReadFigures:
    """Figures of the reads of one configuration for one question."""

    format: str
    codec: str
    dataset: str
    rows: int
    """Rows, images or chunks."""
    question: str
    asked: str
    """The question in words, with its columns and condition."""
    cache: str
    """"cold": exact maps are made without the page cache, others of files that are not in it."""
    method: str = ""
    """"exact" or "residency"; empty without a map."""
    share: float | None = None
    """Distinct bytes by the size; an upper bound by residency."""
    asked_bytes: int | None = None
    """Bytes of all requests; None by residency."""
    requests: int | None = None
    file_bytes: int = 0
    status: str = ""
    """Empty with a map."""
    sentence: str = ""
    """A remark and the file of the map, or the reason for none."""


FORM = StudyForm(
    suite="reads",
    of=ReadFigures,
    values={
        "share": "read amplification",
        "asked_bytes": "query bytes",
        "requests": "query requests",
        "file_bytes": ("size", ""),
    },
    named={"question": "query"},
    reason="sentence",
)


def kept(data: Data, answers: Iterable[Mapped], out: Path) -> Iterator[Mapped]:
    """Yield answers when their figures are among the records of a folder, and their maps beside them."""
    shown: list[Mapped] = []

    def figures() -> Iterator[ReadFigures]:
        for each in answers:
            shown.append(each)
            yield _figures(data, each, out)

    for _ in rows.kept(FORM, out, figures()):
        yield shown[-1]


def _figures(data: Data, answer: Mapped, out: Path) -> ReadFigures:
    """Return the figures of an answer, whose map is in a file of NumPy then."""
    configuration, found = answer.configuration, answer.map
    codec = configuration.codec or "none"
    place = configuration.format, codec, data.name, data.size, answer.asked.question.value
    asked = answer.asked.phrase, "cold"
    if found is None:
        known, _, reason = answer.sentence.partition(": ")
        is_known = known in set(CellStatus)
        status, sentence = (known, reason) if is_known else ("failed", answer.sentence)
        return ReadFigures(*place, *asked, status=status, sentence=sentence)
    file = Path(MAPS, re.sub(r"[^\w.]+", "-", "-".join(map(str, place))) + ".npz")
    (out / MAPS).mkdir(exist_ok=True)
    found.write(out / file)
    remark = f"{answer.sentence}; " if answer.sentence else ""
    return ReadFigures(
        *(*place, *asked, found.method.value),
        *(found.share, found.asked_bytes, found.requests, found.file_bytes),
        sentence=f"{remark}map in {file}",
    )
