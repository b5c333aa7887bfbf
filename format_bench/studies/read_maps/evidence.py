"""Figures of maps of reads as records, and the maps beside them, which the records name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core.files import write_atomically
from format_bench.instruments.read_map import Method, ReadMap
from format_bench.results.load import MAPS
from format_bench.results.status import CellStatus
from format_bench.results.study_rows import StudyFile, StudyForm

if TYPE_CHECKING:
    from format_bench.studies.read_maps.session import Answer, Data


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


def keep(data: Data, answers: Iterable[Answer], out: Path) -> None:
    """Add the figures of answers to the records of a folder, and their maps as files of NumPy."""
    file = StudyFile(FORM, out)
    for each in answers:
        configuration = each.configuration
        codec = configuration.codec or "none"
        place = configuration.format, codec, data.name, data.size, each.asked.question.value
        asked = each.asked.phrase, "cold"
        if each.map is None:
            known, _, reason = each.sentence.partition(": ")
            is_known = known in set(CellStatus)
            status, sentence = (known, reason) if is_known else ("failed", each.sentence)
            file.append(ReadFigures(*place, *asked, status=status, sentence=sentence))
            continue
        name = re.sub(r"[^\w.]+", "-", "-".join(map(str, place)))
        map_path = Path(MAPS, f"{name}.npz")
        (out / MAPS).mkdir(exist_ok=True)
        write_map(each.map, out / map_path)
        remark = f"{each.sentence}; " if each.sentence else ""
        file.append(
            ReadFigures(
                *place,
                *asked,
                each.map.method.value,
                each.map.share,
                each.map.asked_bytes,
                each.map.requests,
                each.map.file_bytes,
                sentence=f"{remark}map in {map_path}",
            )
        )


def write_map(found: ReadMap, path: Path) -> None:
    """Write a map into a file of NumPy: its reads, its files and their sizes."""
    import numpy as np

    with write_atomically(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(
            file,
            reads=found.reads,
            files=np.array([*found.files], str),
            sizes=np.array([*found.files.values()], np.int64),
            method=np.array(found.method.value),
        )


def read_map(path: Path) -> ReadMap:
    """Return the map in a file of `write_map`."""
    import numpy as np

    with np.load(path, allow_pickle=False) as found:
        files = dict(zip(found["files"].tolist(), found["sizes"].tolist(), strict=True))
        return ReadMap(Method(str(found["method"])), files, found["reads"])
