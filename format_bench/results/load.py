"""Results of a run of the runner or of asv, or published ones, as reports and comparisons take them."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.errors import InvalidBundleError, InvalidResultsError
from format_bench.results import bundle, published, records
from format_bench.results.environments import completed
from format_bench.results.records import Record, key
from format_bench.results.status import CellStatus

if TYPE_CHECKING:
    from collections.abc import Iterable


# The runner's file in a folder of results.
RESULTS = "results.jsonl"

# Prices of a cloud, which reports of the results beside them calculate costs by.
PRICES = "prices.toml"

# Files of records that a folder may contain; the second is made of asv's results.
FILES = (RESULTS, "records.jsonl")

MAPS, DAMAGED, SMALLEST, MOMENTS = EVIDENCE = "maps", "damaged", "smallest", "moments"
"""Folders of evidence beside the records that name it: maps of reads, reads of damaged files, the
smallest files that a reader does not read as they are, and reads after interrupted saves."""

ASKED = "questions"
"""Fact of a data set in the metadata of a run: how often each of the user's own questions is asked."""

METADATA_LEVELS = 20
"""Levels of a file of metadata, generously; deeper ones would exceed the stack where they are shown."""


@dataclass(frozen=True)
class Results:
    """Records, and facts about the machine that they were made on."""

    name: str
    """The name of the folder or the file, for titles and columns."""
    records: list[Record]
    """The last record written of each cell, in the order of their first records."""
    metadata: list[dict[str, Any]]
    """The metadata of each run, oldest first; possibly none."""
    prices: Path | None = None
    """The file of prices beside the records, if there is one."""
    whole: list[Record] | None = None
    """All records of the run, whose noise counts, where these are a part of them."""
    source: str = ""
    """The argument that names them on a command line; empty if they are not from a file."""

    @cached_property
    def data(self) -> dict[str, dict[str, Any]]:
        """Facts of data sets by name, of the last run that has them: rows, a user's file, `ASKED`."""
        found: dict[str, dict[str, Any]] = {}
        for each in self.metadata:
            if isinstance(facts := each.get("data"), dict):
                found |= {name: known for name, known in facts.items() if isinstance(known, dict)}
        return found

    @cached_property
    def _all_rows(self) -> dict[str, set[int]]:
        """Numbers of all rows by data set, of all runs that have them."""
        found: dict[str, set[int]] = {}
        for each in self.metadata:
            if isinstance(facts := each.get("data"), dict):
                for name, known in facts.items():
                    if isinstance(known, dict) and isinstance(known.get("rows"), int):
                        found.setdefault(name, set()).add(known["rows"])
        return found

    def without_samples(self) -> Results:
        """Return the results without samples; the same if there is nothing else."""
        whole = [each for each in self.records if not self.is_sample(each)]
        return replace(self, records=whole) if whole else self

    def is_sample(self, record: Record) -> bool:
        """Return whether a record is of a sample, measured to estimate or to sort out.

        A sample is not a comparison of its own: too few configurations were measured on all rows.
        """
        known = self._all_rows.get(record.dataset)
        return known is not None and record.rows not in known and record.rows < max(known)


def load(source: str | Path) -> Results:
    """Return the results in a folder or a file, or published ones.

    Parameters
    ----------
    source : str or Path
        A folder with results.jsonl (of `Runner`) or records.jsonl (of postprocessing.py), or such a
        file itself. Metadata are taken from beside it. Or a bundle, or a name of published
        results, one of `published.names`, unless a file or a folder has that name. Results of a cluster
        with machines that differ need the fingerprint of one, or its beginning, behind a "#".

    Raises
    ------
    InvalidResultsError
        If results are missing; the message contains the file and, if possible, the line.
    """
    if source in published.names() and not Path(source).exists():
        return published_results(str(source))
    if bundle.is_bundle(Path(source)) and Path(source).exists():
        return _of_bundle(Path(source))
    place, mark, wanted = str(source).rpartition("#")
    if not mark or Path(source).exists():
        place, wanted = str(source), ""
    path = _file(Path(place))
    # Each round appends a record of the cell with the samples of all rounds.
    last = {key(record): record for record in completed(records.read(path), path.parent)}
    if not last:
        raise InvalidResultsError(f"{path} is empty: no cell has been measured")
    machine = _machine(place, wanted, {record.machine for record in last.values()})
    name = path.parent.resolve().name if path.name in FILES else path.stem
    return Results(
        name=f"{name} on {machine}" if machine else name,
        records=without_unasked(each for each in last.values() if each.machine == machine),
        metadata=[each for each in metadata_beside(path) if each.get("machine", machine) == machine],
        prices=prices if (prices := path.with_name(PRICES)).is_file() else None,
        source=str(source),
    )


def published_results(name: str) -> Results:
    """Return the published results of a paper, whatever files or folders have its name.

    Raises
    ------
    UnknownNameError
        If there are none of that name.
    """
    return Results(name, published.records(name), metadata=[], source=name)


def _of_bundle(path: Path) -> Results:
    found = bundle.read(path)
    if not found.is_unchanged:
        raise InvalidBundleError(f"{path}: records were changed after the bundle was made")
    name = path.name.removesuffix(bundle.SUFFIX)
    return Results(name, without_unasked(found.records), found.head["metadata"], source=str(path))


def _machine(place: str, wanted: str, machines: set[str]) -> str:
    """Return the machine to show; values of machines that differ are never shown side by side."""
    found = sorted(each for each in machines if each.startswith(wanted))
    if len(found) == 1:
        return found[0]
    names = ", ".join(f"{place}#{each}" for each in sorted(machines))
    if not found:
        raise InvalidResultsError(f"{place} has no results of a machine {wanted}; name one of {names}")
    raise InvalidResultsError(
        f"{place} contains results of {len(found)} machines, which do not compare; name one of {names}"
    )


# Suite, place, rows and query.
_Asked = tuple[str, str, int, str]


def without_unasked(records: Iterable[Record]) -> list[Record]:
    """Drop queries that no format answers on a data set.

    Such queries ask another variable, or more than the data have; each format has a record of that.
    """
    records = list(records)
    refused = reasons_unasked(records)
    return [each for each in records if _asked_where(each) not in refused]


def reasons_unasked(records: Iterable[Record]) -> dict[_Asked, str]:
    """Return why no format answers a query, by suite, place, rows and query."""
    answered: set[_Asked] = set()
    refused: dict[_Asked, Counter[str]] = defaultdict(Counter)
    for each in records:
        where = _asked_where(each)
        if each.value is not None:
            answered.add(where)
        # A format without any value, e.g. for want of a package, does not know what the queries ask.
        elif each.query and each.status is CellStatus.UNSUPPORTED:
            refused[where][each.sentence] += 1
    # Some formats may have reasons of their own, as that they cannot store the data.
    return {
        where: found.most_common(1)[0][0] for where, found in refused.items() if where not in answered
    }


def _asked_where(record: Record) -> _Asked:
    return record.suite, record.place, record.rows, record.query


def suite_of(record: Record) -> str:
    """Return the suite's module, e.g. "tabular" or "image"; suites of asv also name their class."""
    return record.suite.partition(".")[0]


def _file(source: Path) -> Path:
    if source.is_file():
        return source
    if not source.exists():
        raise InvalidResultsError(
            f"there are no results at {source}; `format-bench run --out {source}` makes them, and "
            f"published ones are: {', '.join(published.names())}"
        )
    for name in FILES:
        if (source / name).is_file():
            return source / name
    raise InvalidResultsError(
        f"{source} contains no results: there is neither {' nor '.join(FILES)} in it"
    )


def metadata_beside(place: Path) -> list[dict[str, Any]]:
    """Return the metadata of the runs in a folder, or beside a file: oldest run first.

    Each has the id that its records have, as ``run_id``, if its file is named after one.
    """
    found = []
    for path in (place if place.is_dir() else place.parent).glob("*.json"):
        try:
            facts = json.loads(path.read_bytes())
        except (ValueError, RecursionError):
            # A file that somebody else put there, or that is being written.
            continue
        if isinstance(facts, dict) and "started" in facts and _is_plain(facts):
            run_id, is_of_run, _ = path.name.partition("-threads-")
            found.append({**facts, "run_id": run_id} if is_of_run else facts)
    return sorted(found, key=lambda facts: str(facts["started"]))


def _is_plain(facts: Any, levels: int = METADATA_LEVELS) -> bool:
    """Return whether values are inside of each other in at most some levels, and texts can be shown."""
    if isinstance(facts, str):
        # JSON can contain halves of characters, which no output takes.
        return not any("\ud800" <= character <= "\udfff" for character in facts)
    parts = [*facts, *facts.values()] if isinstance(facts, dict) else facts
    if not isinstance(parts, list):
        return True
    return levels > 0 and all(_is_plain(each, levels - 1) for each in parts)
