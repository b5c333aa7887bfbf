"""XML through pandas and lxml."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import Kind, Snippet, values, whole_file
from adapter_core.snippets import literal
from adapter_core.tables.xml import XMLFormat

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_AS_TEXT = "XML would turn them into text"

# Text that `pandas.read_xml` always takes for nulls; the documentation of `pandas.read_csv` lists it
# under na_values.
_READ_AS_NULL = r"^(|-?1\.#IND|-?1\.#QNAN|#N/A N/A|#N/A|N/A|n/a|NA|<NA>|#NA|NULL|null|-?NaN|-?nan|None)$"


class Adapter(XMLFormat):
    """One element a row through `DataFrame.to_xml` and `pandas.read_xml`.

    XML has no types, and pandas infers them when it reads: small integers and floats come back as 64-bit
    ones; dates, timedeltas and categories as text.
    """

    label = "XML"
    requires = ("pandas", "lxml", "pyarrow", "zstandard")
    reads_nullable_integers_as_floats = True
    codecs: ClassVar = whole_file.CODECS
    refuses: ClassVar = {
        Kind.COMPLEX: _AS_TEXT,
        Kind.BINARY: _AS_TEXT,
        Kind.TIME: _AS_TEXT,
        Kind.DECIMAL: "pandas reads them as floats",
        Kind.WIDE_DECIMAL: "pandas reads them as floats",
        Kind.PERIOD: _AS_TEXT,
        Kind.INTERVAL: _AS_TEXT,
        Kind.SPARSE: "XML would fill them up",
        Kind.ARROW: "XML keeps no Arrow types",
        Kind.NESTED: _AS_TEXT,
        Kind.CATEGORY_NOT_TEXT: "XML keeps no categories",
        Kind.MIXED: _AS_TEXT,
    }
    snippet = Snippet(
        imports="import pandas as pd",
        write='df.to_xml({path}, index=False, parser="lxml", {compression})',
        read='df = pd.read_xml({path}, parser="lxml", compression={codec})',
        changes={
            "int8": "int64",
            "float32": "float64",
            "datetime64[us]": "str",
            "category": "str",
            "Int64": "float64",
        },
    )

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the options of the calls."""
        return {
            "compression": f"compression={literal(whole_file.pandas_options(codec, level))}",
            **super().placeholders(codec, level),
        }

    def _check_values(self, df: pd.DataFrame) -> None:
        super()._check_values(df)
        self._refuse_column(values.datetimes_unlike_iso_8601(df), values.UNLIKE_ISO_8601)
        name = values.timedeltas_beyond_nanoseconds(df)
        self._refuse_column(name, "timedeltas beyond 64-bit nanoseconds, which pandas cannot parse")

    def _check_text(self, name: str, text: pa.Array) -> None:
        if values.any_matches(text, _READ_AS_NULL):
            self._refuse_column(name, "empty text, or text that pandas reads as null")
        if values.reads_as_other_type(text):
            raise self.refusal(f"the text of column {name!r} would be read as numbers or booleans")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        options = whole_file.pandas_options(codec, level)
        df.to_xml(path, index=False, parser="lxml", compression=options)

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import pandas as pd

        return pd.read_xml(path, parser="lxml", compression=whole_file.codec_of(path))

    def _codec_used(self, path: Path) -> str | None:
        return whole_file.codec_of(path)
