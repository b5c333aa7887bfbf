"""Reading of the user's data as a task of a confined process, which answers in JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from adapter_core.array_description import Description
from adapter_core.errors import InvalidDataError, UserDataError
from adapter_core.record_schema import avro_of
from data_generator import location
from data_generator.array_files import array_file
from data_generator.dataset import UserData
from data_generator.user import handover
from data_generator.user.array import load_array
from data_generator.user.load import DIGEST_BYTES, fingerprint, load_data
from data_generator.user.room import check_room
from data_generator.user.summary import RecordsDescription, describe, describe_images
from data_generator.user.summary import describe_array as summary_of
from format_bench.families.arrays.operations import middle_of
from format_bench.families.operations import operations_of
from format_bench.results.suites import FAMILIES


def read(  # noqa: PLR0913 (the request)
    *,
    path: str,
    sample: int | None,
    seed: int,
    trust_pickle: bool,
    parse_dates: bool,
    chunks: list[int] | None,
    edges: list[int] | None,
    as_records: bool,
    schema: str | None,
    target: str,
) -> dict[str, Any]:
    """Read data, leave them at a target, and return their description.

    Of an array a part of some edges is taken, from its middle, if these are given. For the other
    parameters see `data_generator.user.load.load_data`. A table is left as
    `data_generator.user.handover` stores it, and other data as their family's operations do.
    """
    shape = None if chunks is None else tuple(chunks)
    try:
        found = load_data(
            path,
            sample=sample,
            seed=seed,
            trust_pickle=trust_pickle,
            chunks=shape,
            parse_dates=parse_dates,
            as_records=as_records,
            schema=schema,
        )
    except InvalidDataError as error:
        # The caller takes the data for the place of all others.
        if schema is not None and str(error.place) in {schema, schema.rpartition(location.SEPARATOR)[0]}:
            raise UserDataError(str(error)) from error
        raise
    if edges is not None and found.array is not None:
        found = replace(found, array=middle_of(found.array, tuple(edges)))
    check_room(path, found, Path(target).parent)
    family, (rows, columns), description = _left(found, Path(target))
    return {
        "family": family,
        "name": found.name,
        "rows": rows,
        "columns": columns,
        "description": description.to_dict(),
        "remarks": list(found.remarks),
        "has_other_size": found.has_other_size,
        # A part is taken of files that are too large to be read as a whole.
        "fingerprint": _fingerprint(path if edges is None else target, found, schema),
    }


# Day since which readers make of a file what they make: earlier results of it are not resumed.
_READ_SINCE = "2026-11-30"


def _fingerprint(path: str, found: UserData, schema: str | None) -> str:
    """Return the fingerprint of a file; another one if more is made of it than earlier versions did."""
    digest = fingerprint(path)
    typed: Any = found.typed
    if schema is not None and found.records is not None:
        typed = json.dumps(avro_of(found.records.of))
    if found.df is not None or found.array is not None:
        typed = (*typed, _READ_SINCE)
    made = f"{digest} {typed}".encode()
    return blake2b(made, digest_size=DIGEST_BYTES).hexdigest() if typed else digest


def contains_arrays(*, path: str) -> bool:
    """Return whether a file or folder contains arrays, and not a table or images."""
    return array_file(location.find(path)) is not None


def describe_array(*, path: str) -> dict[str, Any]:
    """Return shape, chunks, dtype and coordinates of an array, without its values."""
    found = load_array(path).array
    if found is None:
        raise AssertionError(f"{path} contains no array")
    return Description.of(found).to_dict()


def _left(found: UserData, target: Path) -> tuple[str, tuple[int, int], Any]:
    """Store data; return their family, their shape and a description."""
    if found.df is not None:
        handover.store(found.df, target)
        return "tables", found.df.shape, describe(found.df)
    if found.array is not None:
        store = operations_of(FAMILIES["arrays"]).store
        return "arrays", store(found.array, target), summary_of(found.array)
    if found.records is not None:
        store = operations_of(FAMILIES["records"]).store
        description = RecordsDescription.of_records(found.records)
        return "records", store(found.records, target), description
    images, labels = found.images, found.labels
    if images is None or labels is None:
        raise AssertionError(f"{found.name} contains nothing")
    store = operations_of(FAMILIES["images"]).store
    return "images", store((images, labels), target), describe_images(images, labels)


def read_table(*, path: str, trust_pickle: bool, parse_dates: bool, target: str) -> list[str]:
    """Read a table, leave it at a target as `data_generator.user.handover` does, and return remarks."""
    from data_generator.user.table import load_table

    found = load_table(path, trust_pickle=trust_pickle, parse_dates=parse_dates)
    if found.df is None:
        raise AssertionError(f"{path} contains no table")
    handover.store(found.df, Path(target))
    return list(found.remarks)
