"""Stored records: the name of their data set if they can be made again, else their plain values."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import msgspec

import data_generator
from adapter_core import RecordSet, RecordType
from adapter_core.entities import ENTITY, PERSON
from adapter_core.files import write_atomically
from adapter_core.record_digest import encoded
from adapter_core.record_schema import avro_of, type_of

_TYPES = {each.name: each for each in (ENTITY, PERSON)}


@dataclass(frozen=True)
class Stored:
    """Facts of stored records, known without making them."""

    of: RecordType
    count: int
    digest: str
    name: str
    """Data set whose first records they are; empty for others, whose values follow in the file."""


def store(records: RecordSet, path: Path) -> None:
    """Write a file for `facts` and `load`: a line of facts, then values if there is no data set.

    Nothing in it has to be trusted: a confined process stores the records of a user's file.
    """
    is_known = _TYPES.get(records.of.name) == records.of
    facts = {
        "type": records.of.name if is_known else avro_of(records.of),
        "count": records.count,
        "digest": records.digest,
        "name": records.name,
    }
    with path.open("wb") as file:
        file.write(f"{json.dumps(facts)}\n".encode())
        if not records.name:
            file.write(msgspec.msgpack.encode(list(map(records.of.plain, records.objects))))


def encode(path: Path) -> Path:
    """Return the file beside stored values with the bytes of their digest, written if it is missing.

    Readers in other languages have no other format of records in common.
    """
    target = path.with_name(f"{path.name}.fields")
    if not target.exists():
        records = load(path)
        with write_atomically(target) as partial, partial.open("wb") as file:
            file.writelines(encoded(map(records.of.plain, records.objects), records.of))
    return target


def facts(path: Path) -> Stored:
    """Return the facts of stored records."""
    with path.open("rb") as file:
        return _facts(file.readline())


def _facts(line: bytes) -> Stored:
    found = json.loads(line)
    given = found["type"]
    of = _TYPES[given] if isinstance(given, str) else type_of(given)
    return Stored(of, found["count"], found["digest"], found["name"])


def load(path: Path) -> RecordSet:
    """Return stored records; a data set's are made when they are used."""
    with path.open("rb") as file:
        found = _facts(file.readline())
        values = b"" if found.name else file.read()
    if found.name:
        records = data_generator.records(found.name, found.count).records
        if records is None:
            raise AssertionError(f"{found.name} is not a set of records")
    else:
        objects = list(map(found.of.make, msgspec.msgpack.decode(values)))
        records = RecordSet.of_objects(found.of, objects)
    # Known, so that no process makes the objects again only to compare those read.
    records.digest = found.digest
    return records
