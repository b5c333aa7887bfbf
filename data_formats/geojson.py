"""GeoJSON through GDAL."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import Kind
from adapter_core.file_facts import FileFacts
from adapter_core.geometries import GEOMETRY, with_long_coordinates
from adapter_core.tables.gdal import OPEN_GEOJSON, FeatureFormat, snippet_of
from adapter_core.values import infinite_floats, integers_beyond_float, rounded_to_infinity

if TYPE_CHECKING:
    import pandas as pd


class Adapter(FeatureFormat):
    """GeoJSON through pyogrio: text, in which numbers have 17 digits.

    GDAL leaves out the last three of them where they follow zeros or nines. Integers come back with 32
    bits if all of a column fit, since the reader infers types. Geometries with coordinates of more than
    12 decimals are refused: they would come back as others.
    """

    label = "GeoJSON"
    suffix = ".geojson"
    suite = "features"
    requires = ("pandas", "pyarrow>=15", "pyogrio>=0.12", "shapely>=2")
    environment = "geospatial"
    driver = "GeoJSON"
    layer_options: ClassVar = {"AUTODETECT_JSON_STRINGS": "NO"}
    open_options: ClassVar = OPEN_GEOJSON
    holds_zero_rows = False
    kept_digits = 14
    file_facts = FileFacts(
        silent="text names no settings of its writer",
        threads="one core",
        differs="texts that look like JSON stay texts",
    )
    snippet = snippet_of(
        driver,
        {"int8": "int32", "float32": "float64"},
        'layer_options={"AUTODETECT_JSON_STRINGS": "NO"}',
        open_options=OPEN_GEOJSON,
    )

    def _check_values(self, df: pd.DataFrame) -> None:
        super()._check_values(df)
        self._refuse_column(infinite_floats(df), "infinite numbers, which JSON has no form for")
        name = integers_beyond_float(df, {Kind.INTEGER})
        self._refuse_column(name, "integers beyond 2**53, which GDAL may read as floats")
        name = rounded_to_infinity(df, self.kept_digits)
        self._refuse_column(name, f"floats that {self.kept_digits} digits round to infinity")
        if GEOMETRY in df.columns and with_long_coordinates(df[GEOMETRY]):
            self._refuse_column(GEOMETRY, "coordinates of more than 12 decimals, which it would round")

    def _write(self, df: pd.DataFrame, path: Path, layer_options: Mapping[str, str]) -> None:
        # GDAL writes eight digits of 32-bit floats, which have nine.
        single = [name for name, dtype in df.dtypes.items() if dtype == "float32"]
        super()._write(df.astype(dict.fromkeys(single, "float64")), path, layer_options)
