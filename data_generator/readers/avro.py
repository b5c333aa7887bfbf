"""Reader of Avro object container files, through fastavro."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapter_core.errors import InvalidDataError
from data_generator.readers._reader import ReadRequest, TableReader

if TYPE_CHECKING:
    import pandas as pd


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
            reader = fastavro.reader(file)
            schema = reader.writer_schema
            records = list(reader)
        if not isinstance(schema, dict) or schema["type"] != "record":
            raise InvalidDataError(request.path, "contains values that are not records")
        # Named columns keep those of a file without records, and their order.
        with self.guard(request):
            return pd.DataFrame(records, columns=[field["name"] for field in schema["fields"]])
