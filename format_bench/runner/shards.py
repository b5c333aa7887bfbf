"""Shards of a plan, each measured by a command of its own, and their folders of results joined."""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from adapter_core.errors import InvalidFolderError, InvalidRequestError, InvalidResultsError
from adapter_core.files import write_atomically
from format_bench.families.cases import Case
from format_bench.metadata import run_metadata
from format_bench.metadata.machine import described, fingerprint
from format_bench.results import records
from format_bench.results.load import EVIDENCE, FILES, RESULTS, metadata_beside
from format_bench.results.records import Key, Record, key
from format_bench.results.status import is_of_surroundings
from format_bench.runner import folders

_SHARD = re.compile(r"(?P<number>[1-9]\d*)/(?P<of>[1-9]\d*)")
_NAME = re.compile(r"shard (?P<number>\d+)/(?P<of>\d+) of (?P<suite>.+)")


class Shard(NamedTuple):
    """One of several parts of a plan, which have no cell in common and are the plan together."""

    number: int
    """From 1."""
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Return the shard of a text like "2/3".

        Raises
        ------
        InvalidRequestError
            If it is none.
        """
        found = _SHARD.fullmatch(text)
        if found is None or int(found["number"]) > int(found["of"]):
            raise InvalidRequestError(f"--shard {text}: write the second of three as 2/3")
        return cls(int(found["number"]), int(found["of"]))

    def cases(self, plan: Iterable[Case]) -> tuple[Case, ...]:
        """Return the shard's cases in their order.

        All cells of a format on a data set are of one shard: its codecs, tracks and conditions are
        compared with each other.

        Raises
        ------
        InvalidRequestError
            If the plan has fewer parts than shards.
        """
        plan = list(plan)
        # By the digests, so that neighbours, which cost alike, come to different shards.
        groups = sorted({_digest(each) for each in plan})
        if len(groups) < self.of:
            most = f"the plan divides into {len(groups)} at most, one for each format on a data set"
            raise InvalidRequestError(f"--shard {self.number}/{self.of}: {most}")
        own = {*groups[self.number - 1 :: self.of]}
        return tuple(each for each in plan if _digest(each) in own)

    def fingerprints(self, plan: Sequence[Case]) -> dict[str, str]:
        """Return a digest of the plan by the names of the plan and of the shard.

        Shards of plans that differ, e.g. as a machine lacks a library, may lack cells or share some.
        """
        text = "".join(sorted({_digest(each) for each in plan}))
        digest = hashlib.sha256(text.encode()).hexdigest()[:32]
        names = f"plan in {self.of} shards", f"shard {self.number}/{self.of}"
        return {f"{name} of {plan[0].suite}": digest for name in names}


# The only shard of a plan that is not divided.
WHOLE = Shard(1, 1)


def _digest(case: Case) -> str:
    return hashlib.sha256(repr((case.suite, case.format, case.dataset, case.rows)).encode()).hexdigest()


@dataclass(frozen=True)
class Merged:
    """Contents of joined folders of results."""

    added: tuple[int, ...]
    """Records that each folder has added."""
    cells: int
    machines: Mapping[str, str]
    """Descriptions by fingerprint, if there are several kinds of machines."""
    missing: tuple[str, ...]
    """Shards that no folder has, in words."""


class _Folder:
    """A folder of results with its records, metadata and fingerprints of data."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.is_dir():
            raise InvalidFolderError(f"{path}: there is no such folder; name folders of results")
        file = next((path / name for name in FILES if (path / name).exists()), None)
        if file is None:
            raise InvalidResultsError(f"{path} contains no results: there is no {RESULTS} in it")
        self.records = records.read(file)
        self.data = folders.fingerprints_in(path)
        self.metadata = {each.name: _facts(each) for each in sorted(path.glob("*-threads-*.json"))}
        self.evidence = {
            f"{folder}/{each.name}": each.read_bytes()
            for folder in EVIDENCE
            for each in (path / folder).glob("*")
        }
        self.log = _lines(path / folders.CLUSTER_LOG)

    @property
    def is_of_cluster(self) -> bool:
        """True if records name their machines."""
        return any(each.machine for each in self.records)

    @property
    def machine(self) -> str:
        """Fingerprint of the machine by the latest metadata; empty if none describe it."""
        for facts in reversed(metadata_beside(self.path)):
            try:
                return fingerprint(facts)
            except (LookupError, TypeError, AttributeError):
                continue  # of an earlier version, or not a run's
        return ""

    def label(self) -> None:
        """Give the machine to the records and metadata that name none.

        Raises
        ------
        InvalidResultsError
            If it is not known.
        """
        if self.is_of_cluster:
            return
        if not (machine := self.machine):
            reason = "no metadata beside its results say which machine measured them"
            raise InvalidResultsError(f"{self.path}: {reason}; it cannot be joined with another's")
        self.records = [replace(each, machine=machine) for each in self.records]
        self.metadata = {name: {**each, "machine": machine} for name, each in self.metadata.items()}


def _lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True) if path.exists() else []


def _facts(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InvalidFolderError(f"{path} is damaged; `format-bench repair {path.parent}` sets it aside")
    return found


def merge(out: Path, sources: Sequence[Path]) -> Merged:
    """Join folders of results in one, which may hold results already; doing it again changes nothing.

    Results of machines that differ are kept apart by their fingerprints, as on a cluster.

    Parameters
    ----------
    out : Path
        The folder; made if missing.
    sources : sequence of Path
        The others, which stay as they are.

    Raises
    ------
    InvalidFolderError, InvalidResultsError
        If one name means different data or plans in two folders, or a folder cannot be joined. Nothing
        has changed then.
    LockedError
        If a run is writing to the folder.
    """
    parts = [_Folder(each) for each in sources]
    folders.open_results(out, fresh=False)
    with folders.only_run(out):
        before = [_Folder(out)] if (out / RESULTS).exists() else []
        return _joined(out, [*before, *parts], len(before))


def _joined(out: Path, parts: Sequence[_Folder], before: int) -> Merged:
    data: dict[str, str] = {}
    for each in parts:
        data = folders.same_data(data, each.data, each.path, "merge it into a folder of its own")
    machines = {each.machine for each in parts if not each.is_of_cluster}
    is_apart = len(machines) > 1 or any(each.is_of_cluster for each in parts)
    files = _beside(parts)
    for each in parts if is_apart else ():
        each.label()
    found, added = _records_of(parts)
    metadata = _metadata_of(parts)
    # Metadata first: records without them would be of an unknown environment.
    for name, facts in metadata.items():
        if not (out / name).exists() or _facts(out / name) != facts:
            run_metadata.write(facts, out / name)
    if data:
        folders.write_fingerprints(out, data)
    if is_apart:
        folders.mark_cluster(out)
    for place, content in {**files, RESULTS: b"".join(map(records.line, found))}.items():
        _write(out / place, content)
    words = {str(each.get("machine")): described(each) for each in metadata.values() if is_apart}
    return Merged(
        tuple(added[before:]),
        len({key(each) for each in found}),
        {each: words.get(each, "") for each in sorted({each.machine for each in found} - {""})},
        tuple(_missing(data)),
    )


def _records_of(parts: Sequence[_Folder]) -> tuple[list[Record], list[int]]:
    """Return the records of folders without doubles, and how many each has added.

    The last record of a cell counts. If several folders have measured the same cell, the latest
    run's comes last, and one that failed for want of space or memory before all others.
    """
    found: dict[bytes, Record] = {}
    added: list[int] = []
    lasts: defaultdict[Key, set[bytes]] = defaultdict(set)
    superseded: set[bytes] = set()
    for part in parts:
        size = len(found)
        own: dict[Key, bytes] = {}
        for record in part.records:
            line, cell = records.line(record), key(record)
            found.setdefault(line, record)
            if cell in own:
                superseded.add(own[cell])
            own[cell] = line
        added.append(len(found) - size)
        for cell, line in own.items():
            lasts[cell].add(line)
    for ends in lasts.values():
        # A folder that has gone on from another's records supersedes them.
        if len(rivals := ends - superseded) > 1:
            line = max(rivals, key=lambda each: _rank(found[each]))
            found[line] = found.pop(line)
    return list(found.values()), added


def _rank(record: Record) -> tuple[bool, str]:
    return not is_of_surroundings(record.status, record.sentence), record.run_id


def _metadata_of(parts: Iterable[_Folder]) -> dict[str, dict[str, Any]]:
    """Return the metadata by name of the file; of one that was copied during its run, the last."""
    found: dict[str, dict[str, Any]] = {}
    for part in parts:
        for name, facts in part.metadata.items():
            if name not in found or str(facts.get("ended") or "") > str(found[name].get("ended") or ""):
                found[name] = facts
    return found


def _beside(parts: Sequence[_Folder]) -> dict[str, bytes]:
    """Return evidence beside records, and logs of clusters as one, by path."""
    found: dict[str, bytes] = {}
    for part in parts:
        for path, content in part.evidence.items():
            if found.setdefault(path, content) != content:
                raise InvalidFolderError(f"{part.path} has another {path}; keep it apart")
    if log := b"".join(dict.fromkeys(line for part in parts for line in part.log)):
        found[folders.CLUSTER_LOG] = log
    return found


def _write(path: Path, content: bytes) -> None:
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(exist_ok=True)
        with write_atomically(path, durable=True) as temporary:
            temporary.write_bytes(content)


def _missing(data: Iterable[str]) -> Iterator[str]:
    """Yield the shards that are missing beside others of their plan."""
    plans: defaultdict[tuple[str, int], set[int]] = defaultdict(set)
    for name in data:
        if found := _NAME.fullmatch(name):
            plans[found["suite"], int(found["of"])].add(int(found["number"]))
    for (suite, of), numbers in plans.items():
        for number in sorted({*range(1, of + 1)} - numbers):
            yield f"shard {number}/{of} of {suite}"
