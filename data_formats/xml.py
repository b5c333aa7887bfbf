"""XML through pandas and lxml."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import whole_file
from adapter_core.data_format import DataFormat
from adapter_core.kinds import Kind
from adapter_core.tables.xml import ELEMENT_NAME, NOT_A_CHARACTER
from adapter_core.traits import Trait
from adapter_core.values import matches_text, reads_as_other_type, text_columns

if TYPE_CHECKING:
    import pandas as pd

_AS_TEXT = "XML would turn them into text"

_READ_AS_NULL = r"^(|-?1\.#IND|-?1\.#QNAN|#N/A N/A|#N/A|N/A|n/a|NA|<NA>|#NA|NULL|null|-?NaN|-?nan|None)$"
"""Text that `pandas.read_xml` takes for nulls; it has no option to change that. The list is in the
documentation of `pandas.read_csv`, under na_values."""


class Adapter(DataFormat):
    """One element a row through `DataFrame.to_xml` and `pandas.read_xml`.

    XML has no types, so pandas guesses them when it reads: small integers and floats come back as
    64-bit ones; dates, timedeltas and categories as text.
    """

    label = "XML"
    suffix = ".xml"
    requires = ("pandas", "lxml", "pyarrow", "zstandard")
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.TEXT, Trait.SINGLE_FILE})
    holds_zero_rows = False
    reads_nullable_integers_as_floats = True
    codecs: ClassVar = whole_file.CODECS
    refuses: ClassVar = {
        Kind.COMPLEX: _AS_TEXT,
        Kind.BINARY: _AS_TEXT,
        Kind.TIME: _AS_TEXT,
        Kind.DECIMAL: "pandas reads them as floats",
        Kind.PERIOD: _AS_TEXT,
        Kind.INTERVAL: _AS_TEXT,
        Kind.SPARSE: "XML would fill them up",
        Kind.ARROW: "XML keeps no Arrow types",
        Kind.ARROW_NESTED: "XML keeps no Arrow types",
        Kind.CATEGORY_NOT_TEXT: "XML keeps no categories",
        Kind.MIXED: _AS_TEXT,
    }

    def _check_values(self, df: pd.DataFrame) -> None:
        for name in df.columns:
            if not ELEMENT_NAME.fullmatch(name):
                raise self.refusal(f"{name!r} cannot be the name of an XML element")
        for name, text in text_columns(df):
            if matches_text(text, NOT_A_CHARACTER):
                raise self.refusal(f"column {name!r} contains control characters, which XML forbids")
            if matches_text(text, _READ_AS_NULL):
                raise self.refusal(
                    f"column {name!r} contains empty text, or text that pandas reads as null"
                )
            if reads_as_other_type(text):
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

    @staticmethod
    def plain_save(df: pd.DataFrame, path: Path) -> None:
        df.to_xml(path, index=False)

    @staticmethod
    def plain_read(path: Path) -> pd.DataFrame:
        import pandas as pd

        return pd.read_xml(path)
