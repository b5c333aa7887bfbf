"""Stored records: the name of their data set if they can be made again, else the objects."""

from __future__ import annotations

import json
import pickle
from dataclasses import dataclass
from pathlib import Path

import data_generator
from adapter_core import RecordSet, RecordType
from adapter_core.entities import ENTITY, PERSON

_TYPES = {each.name: each for each in (ENTITY, PERSON)}


@dataclass(frozen=True)
class Stored:
    """Facts of stored records, known without making them."""

    of: RecordType
    count: int
    digest: str
    name: str
    """Data set whose first records they are; empty for others, whose objects are in a file beside."""


def store(records: RecordSet, path: Path) -> None:
    """Write a file for `facts` and `load`, and beside it the objects of records without a data set."""
    facts = {
        "type": records.of.name,
        "count": records.count,
        "digest": records.digest,
        "name": records.name,
    }
    if not records.name:
        with _objects_file(path).open("wb") as file:
            pickle.dump(records.objects, file)
    path.write_text(json.dumps(facts), encoding="ascii")


def facts(path: Path) -> Stored:
    """Return the facts of stored records."""
    found = json.loads(path.read_text(encoding="ascii"))
    return Stored(_TYPES[found["type"]], found["count"], found["digest"], found["name"])


def load(path: Path) -> RecordSet:
    """Return stored records; a data set's are made when they are used."""
    found = facts(path)
    if found.name:
        records = data_generator.records(found.name, found.count).records
        if records is None:
            raise AssertionError(f"{found.name} is not a set of records")
    else:
        with _objects_file(path).open("rb") as file:
            records = RecordSet.of_objects(found.of, pickle.load(file))  # noqa: S301 (by `store`)
    # Known, so that no process makes the objects again only to compare those read.
    records.digest = found.digest
    return records


def _objects_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.objects")
