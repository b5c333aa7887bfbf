"""FlatGeobuf through GDAL."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import Tunable
from adapter_core.file_facts import FileFacts
from adapter_core.geometries import GEOMETRY
from adapter_core.tables.gdal import FeatureFormat, snippet_of

if TYPE_CHECKING:
    import pandas as pd


class Adapter(FeatureFormat, Tunable):
    """FlatGeobuf through pyogrio: a table of FlatBuffers.

    Tuned files have its index, a packed R-tree, and with it rows in the order of a Hilbert curve; others
    keep the order of rows, and have none.
    """

    label = "FlatGeobuf"
    suffix = ".fgb"
    suite = "features"
    requires = ("pandas", "pyarrow>=15", "pyogrio>=0.12", "shapely>=2")
    environment = "geospatial"
    driver = "FlatGeobuf"
    layer_options: ClassVar = {"SPATIAL_INDEX": "NO"}
    tuned_options: ClassVar = {"SPATIAL_INDEX": "YES"}
    tuned_indexes = "a packed R-tree of the geometries"
    keeps_null_geometries = False
    orders_rows_by_place = True
    file_facts = FileFacts(
        silent="GDAL tells no settings of the file",
        threads="one core",
        differs="without the index, which would reorder the rows",
    )
    snippet = snippet_of(driver, {"int8": "int16"}, 'layer_options={"SPATIAL_INDEX": "NO"}')

    def _save_tuned(self, df: pd.DataFrame, path: Path, sort_by: list[str], lookups: list[str]) -> None:
        # Rows without a place cannot be in the index.
        self._write(df, path, self.tuned_options if GEOMETRY in df.columns else self.layer_options)
