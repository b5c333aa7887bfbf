"""Reader of Avro object container files, through fastavro."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.errors import InvalidDataError
from data_generator.readers._reader import ReadRequest, TableReader, check_columns, check_fits
from data_generator.readers._values import typed

if TYPE_CHECKING:
    import pandas as pd

# Memory of a record and of a value in it, at least.
RECORD_BYTES = 64
VALUE_BYTES = 16


class AvroReader(TableReader):
    """Reader of https://avro.apache.org/docs/1.12.0/specification/#object-container-files."""

    kind = "Avro"
    endings = (".avro",)
    signatures = ((0, b"Obj\x01"),)
    requires = ("fastavro",)

    def read(self, request: ReadRequest) -> pd.DataFrame:
        """Return the records as rows."""
        import fastavro
        import pandas as pd

        with self.guard(request), request.path.open("rb") as file:
            blocks = fastavro.block_reader(file)
            schema = blocks.writer_schema
            check_schema(request.path, fastavro.parse_schema(schema))
            names = [field["name"] for field in schema["fields"]]
            check_columns(request.path, len(names))
            records: list[Any] = []
            expected = 0
            for block in blocks:
                # A block may declare any number of records that take no bytes.
                expected += block.num_records
                check_fits(request.path, expected * (RECORD_BYTES + VALUE_BYTES * len(names)))
                records.extend(block)
            # Named columns remain in a file without records, in their order.
            return typed(pd.DataFrame(records, columns=names, dtype=object))


def check_schema(path: Path, schema: Any) -> None:
    """Raise `InvalidDataError` unless values are records of a limited depth and number of items."""
    if not isinstance(schema, dict) or schema["type"] != "record":
        raise InvalidDataError(path, "contains values that are not records")
    _check(path, schema, ())


def _check(path: Path, schema: Any, inside: tuple[str, ...]) -> None:
    if isinstance(schema, str):
        if schema in inside:
            raise InvalidDataError(
                path, f"has records of the kind {schema[:40]!a} inside each other, which are no table"
            )
        return
    if isinstance(schema, dict) and schema["type"] == "record":
        inside = (*inside, schema["name"])
    if isinstance(schema, dict) and schema["type"] == "array" and _takes_no_bytes(schema["items"]):
        raise InvalidDataError(path, "has arrays of items that take no bytes, in any number")
    for part in _parts(schema):
        _check(path, part, inside)


def _parts(schema: Any) -> list[Any]:
    """Return the schemas that a union, a record, an array or a map is made of."""
    if isinstance(schema, list):
        return schema
    fields = [field["type"] for field in schema.get("fields", ())]
    named = [schema[key] for key in ("type", "items", "values") if key in schema]
    return fields + named


def _takes_no_bytes(schema: Any) -> bool:
    if not isinstance(schema, dict):
        return bool(schema == "null")
    if schema["type"] == "record":
        return all(_takes_no_bytes(field["type"]) for field in schema["fields"])
    return _takes_no_bytes(schema["type"]) or schema.get("size") == 0
