"""Page of the maps of reads: tables of shares and requests below the picture."""

from __future__ import annotations

import importlib.metadata
import mmap
import platform
import re
from collections.abc import Iterator, Sequence
from typing import Any

from format_bench.families.operations import registry_of
from format_bench.instruments.read_map import Method, ReadMap
from format_bench.instruments.read_map.counts import Counted
from format_bench.report.charts.figures import Chart
from format_bench.results.candidates import Configuration
from format_bench.results.display.text import joined, quantity
from format_bench.results.suites import FAMILIES
from format_bench.studies.declared.blocks import Block, Page
from format_bench.studies.read_maps.mapping import Data, Mapped
from format_bench.studies.read_maps.questions import Question

UNITS = {"tables": "rows", "images": "images", "arrays": "chunks"}
"""Nouns for the size of data, by family."""

# Shares of a file that count as little, and as all of it; and the ratio from which bytes are reread.
LITTLE, MOST, AGAIN = 0.1, 0.98, 1.2

_QUESTION = """\
A question to a few columns should not cost the whole file. This page records which bytes of a file each
format's library asks for, in which order, how often, and by how many requests.
"""

_EXACT = """\
The maps are exact. During a question the file is covered by a file system that records each read, by
FUSE without the page cache and without read-ahead, and that only the reading process sees. A read(2)
counts as it was made, in pieces of at most 1 MiB; the first touch of a page of a memory map counts as a
read of 4,096 bytes, and so each such page is a request. Advice to the kernel (posix_fadvise) is not a
read. Calls go through the adapters, which first check that the columns exist.
"""

_RESIDENCY = """\
The shares are upper bounds: those of the pages in the page cache after a read of a file that was proven
absent from it, and the kernel read ahead by up to {read_ahead}. Order, repeats and requests are
not known. Exact maps need Linux 6.6, /dev/fuse and the right to mount.
"""

_COLUMNS = """\
**share**: distinct bytes by the size of all files. **asked**: bytes of all requests by the distinct
ones; more than 1 where bytes are read again. **requests** and **median**: their number, and the bytes of
the median one. **in sequence**: requests that start where the last one to the same file ended.
**files**: those read, of all.
"""


_CHECKS = """\
The first question again, without the recording file system. Bytes and requests:

- **map**: as above.
- **strace**: system calls that read from the file and returned anything. It does not see touches of
  memory maps, and counts a call of more than 1 MiB once.
- **process**: /proc/self/io of a process that has read a copy of the file before. It counts all files
  and pipes, also calls that return nothing, and the reading of /proc/self/io itself; memory maps it does
  not see either.
- **library**: the library's own counters (`num_requested_bytes` and `num_requested_chunks` of
  uproot's source, ROOT's `TFile::GetFileBytesRead` and `GetFileReadCalls`). They count parts before they
  are put together to requests. ROOT's RNTuple reads its pages by another class, which these counters do
  not contain.

Pages of 4 KiB:

- **map, pages**: the distinct pages of the map.
- **resident**: pages in the page cache after a read of a file that was proven absent from it, in a
  process with a shim (LD_PRELOAD) that turns read-ahead off for each opened and mapped file, and ignores
  advice.
"""


def page(
    data: Data, answers: Sequence[Mapped], chart: Chart | None, metadata: Sequence[dict[str, Any]]
) -> Page:
    """Return the page.

    Parameters
    ----------
    data : Data
        The data that were saved.
    answers : sequence of Mapped
        All of them, of at least one question.
    chart : Chart, optional
        The picture.
    metadata : sequence of dict
        Of the runs.
    """
    first, *others = data.asked
    of_first = [each for each in answers if each.asked == first]
    blocks = [
        Block(f"{first.phrase[0].upper()}{first.phrase[1:]}", items=[*_summary(of_first)]),
        Block(text=_COLUMNS, header=_HEADER, rows=[*_table(of_first)]),
    ]
    if others:
        blocks.append(_matrix(data, answers))
    if checked := [each for each in answers if each.counted and each.map]:
        header = "format", "map", "strace", "process", "library", "map, pages", "resident"
        rows = [[str(each.configuration), *_counts(each.map, each.counted)] for each in checked]
        blocks.append(Block("Checked by other means", _CHECKS.strip(), header, rows))
    if reasons := {str(each.configuration): each.sentence for each in answers if each.map is None}:
        items = [f"**{name}**: {sentence}" for name, sentence in reasons.items()]
        blocks.append(Block("Without a map", items=items))
    return Page(
        "Which bytes are read", _QUESTION, blocks, "\n".join(_method(data, answers)), metadata, chart
    )


def _method(data: Data, answers: Sequence[Mapped]) -> Iterator[str]:
    maps = [each.map for each in answers if each.map]
    if any(each.method is Method.EXACT for each in maps):
        yield _EXACT
    bounds = {each.read_ahead_bytes for each in maps if each.method is Method.RESIDENCY}
    if bounds:
        known = [each for each in bounds if each]
        yield _RESIDENCY.format(read_ahead=quantity(max(known), "bytes") if known else "unknown amounts")
    kernel, items = platform.release().partition("-")[0], UNITS[data.family]
    yield f"Data: `{data.name}`, {data.size:,} {items}. Linux {kernel}. {_versions(answers)}"


def _summary(answers: Sequence[Mapped]) -> Iterator[str]:
    """Yield a list of the formats that read little, everything, or bytes again."""
    maps = {str(each.configuration): each.map for each in answers if each.map}
    shares = [found.share for found in maps.values()]
    if not shares:
        return
    little = [name for name, found in maps.items() if found.share < LITTLE]
    everything = [name for name, found in maps.items() if found.share > MOST]
    again = {
        name: found.asked_bytes / found.distinct_bytes
        for name, found in maps.items()
        if found.asked_bytes and found.asked_bytes > AGAIN * found.distinct_bytes
    }
    if little:
        least = min(maps, key=lambda name: maps[name].share)
        yield (
            f"{len(little)} of {len(maps)} read less than {LITTLE:.0%} of the file; the least, "
            f"{maps[least].share:.1%}, {least}."
        )
    if everything:
        yield f"All of it is read by {joined(everything, most=None)}."
    if again:
        times = joined([f"{name} ({ratio:.1f} times)" for name, ratio in again.items()], most=None)
        yield f"Bytes are read again, so that more are asked for than the distinct ones: {times}."
    requests = {name: found.requests for name, found in maps.items() if found.requests}
    if len(requests) > 1:
        fewest, most = min(requests, key=requests.__getitem__), max(requests, key=requests.__getitem__)
        yield (
            f"The fewest requests: {fewest}, {requests[fewest]:,}; the most: {most}, {requests[most]:,}."
        )


_HEADER = "format", "size", "share", "asked", "requests", "median", "in sequence", "files"


def _table(answers: Sequence[Mapped]) -> Iterator[list[str]]:
    for each in answers:
        if each.map:
            yield [str(each.configuration), *_cells(each.map, each.sentence)]


def _cells(found: ReadMap, sentence: str) -> list[str]:
    mark = " *" if sentence else ""
    size, files = quantity(found.file_bytes, "bytes"), f"{found.files_read:,} of {len(found.files):,}"
    if found.requests is None or found.asked_bytes is None:
        return [size, f"≤ {found.share:.1%}{mark}", *["unknown"] * 4, files]
    median, sequential = found.median_request_bytes, found.sequential_share
    return [
        size,
        f"{found.share:.1%}{mark}",
        f"{found.asked_bytes / max(found.distinct_bytes, 1):.2f}",
        f"{found.requests:,}",
        "-" if median is None else quantity(median, "bytes"),
        "-" if sequential is None else f"{sequential:.0%}",
        files,
    ]


def _matrix(data: Data, answers: Sequence[Mapped]) -> Block:
    asked = {each.question for each in data.asked[1:]}
    text = ["Share of the file, and number of requests."]
    if Question.WHOLE in asked:
        text.append("Padding, indexes and statistics are not needed to read everything.")
    if Question.FIRST in asked:
        text.append("Few rows take all of the row group, chunk or block that contains them.")
    if any(each.sentence and each.map for each in answers):
        text.append(
            "\\* cannot read that part alone: reads the columns of all rows, or else everything."
        )
    found: dict[Configuration, dict[str, str]] = {}
    for each in answers:
        found.setdefault(each.configuration, {})[each.asked.phrase] = _short(each)
    header = ["format", *(each.phrase for each in data.asked)]
    rows = [[str(each), *(cells.get(name, "") for name in header[1:])] for each, cells in found.items()]
    return Block("Other questions", "\n\n".join(text), header, rows)


def _short(answer: Mapped) -> str:
    found = answer.map
    if found is None:
        return answer.sentence.partition(":")[0]
    mark = " \\*" if answer.sentence else ""
    if found.requests is None:
        return f"≤ {found.share:.1%}{mark}"
    return f"{found.share:.1%}, {found.requests:,}{mark}"


def _counts(found: ReadMap | None, other: Counted | None) -> Iterator[str]:
    if found and other:
        yield _traced(found.asked_bytes, found.requests)
        for each in (other.traced, other.process, other.library):
            yield _traced(each.asked_bytes, each.calls) if each else "-"
        yield f"{found.page_bytes // mmap.PAGESIZE:,}"
        resident = other.resident_bytes
        yield "-" if resident is None else f"{resident // mmap.PAGESIZE:,}"


def _traced(asked_bytes: int | None, calls: int | None) -> str:
    return "-" if asked_bytes is None else f"{asked_bytes:,} in {calls:,}"


def _versions(answers: Sequence[Mapped]) -> str:
    names = {
        re.split(r"[^\w.-]", requirement)[0]
        for each in answers
        if each.map
        for requirement in registry_of(FAMILIES[each.asked.family])
        .find(each.configuration.format)
        .requires
    }
    versions = [f"{name} {importlib.metadata.version(name)}" for name in sorted(names, key=str.lower)]
    return f"Libraries: {', '.join(versions)}." if versions else ""
