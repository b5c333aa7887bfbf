"""Avro object container files through fastavro."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapter_core.errors import InvalidDataError
from data_generator.readers._reader import Request, TableReader

if TYPE_CHECKING:
    import pandas as pd


class Reader(TableReader):
    """https://avro.apache.org/docs/1.12.0/specification/#object-container-files."""

    what = "Avro"
    endings = (".avro",)
    signatures = ((0, b"Obj\x01"),)
    requires = ("fastavro",)

    def read(self, request: Request) -> pd.DataFrame:
        """Return one row for each record."""
        import fastavro
        import pandas as pd

        with self.guard(request), request.path.open("rb") as file:
            reader = fastavro.reader(file)
            schema = reader.writer_schema
            records = list(reader)
        if not isinstance(schema, dict) or schema["type"] != "record":
            raise InvalidDataError(request.path, "holds values that are no records")
        with self.guard(request):
            return pd.DataFrame(records, columns=[field["name"] for field in schema["fields"]])
