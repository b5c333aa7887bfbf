"""Reader of specifications in TOML, each of which is read as the synthetic table that it describes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapter_core.errors import InvalidDataError, InvalidSpecError
from data_generator.readers._reader import ReadRequest, TableReader, check_columns, check_fits
from data_generator.realistic.tables import realistic_table
from data_generator.spec.io import read_spec

if TYPE_CHECKING:
    import pandas as pd

    from data_generator.spec.spec import ColumnSpec

# Each value is made from a number, also a short text or a boolean.
NUMBER_BYTES = 8


class SpecificationReader(TableReader):
    """Reader of the specifications that ``format-bench profile`` writes, of `TableSpec`."""

    kind = "a specification"
    endings = (".toml",)
    is_text = True
    has_values = False

    def read(self, request: ReadRequest) -> pd.DataFrame:
        """Return the table of the specification, the same on every machine."""
        try:
            spec = read_spec(request.path)
        except InvalidSpecError as error:
            raise InvalidDataError(request.path, "; ".join(error.mistakes)) from error
        check_columns(request.path, len(spec.columns))
        size_bytes = round(spec.rows * sum(map(value_bytes, spec.columns)))
        check_fits(request.path, size_bytes, advice="lower its rows, or allow more by --data-memory")
        request.remarks.append("the table is synthetic: it is generated from this specification")
        with self.guard(request):
            return realistic_table(spec)


def value_bytes(spec: ColumnSpec) -> float:
    """Return the least memory of a value of a column, in bytes, in the mean."""
    width = max(0.0, min(spec.rank_widths, default=spec.width))
    if spec.items or spec.fields:
        parts = (*spec.fields, spec.items) if spec.items else spec.fields
        items = {"list": width, "map": width, "vector": spec.length}.get(spec.dtype, 1)
        return items * sum(map(value_bytes, parts))
    return max(NUMBER_BYTES, width) if spec.dtype in {"str", "bytes"} else NUMBER_BYTES
