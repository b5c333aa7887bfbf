"""SpatiaLite through GDAL."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from adapter_core.file_facts import FileFacts
from adapter_core.geometries import GEOMETRY, with_nested_collections
from adapter_core.tables.gdal import FeatureFormat, snippet_of

if TYPE_CHECKING:
    import pandas as pd


class Adapter(FeatureFormat):
    """SpatiaLite through pyogrio: a database of SQLite with an R-tree of the geometries."""

    label = "SpatiaLite"
    suffix = ".sqlite"
    suite = "features"
    requires = ("pandas", "pyarrow>=15", "pyogrio>=0.12", "shapely>=2")
    environment = "geospatial"
    driver = "SQLite"
    dataset_options: ClassVar = {"SPATIALITE": "YES", "INIT_WITH_EPSG": "NO"}
    layer_options: ClassVar = {"LAUNDER": "NO"}
    is_database = True
    keeps_minus_zero = False
    own_names: ClassVar = frozenset({"ogc_fid"})
    file_facts = FileFacts(
        version="3",
        parts={"page": "4096 bytes", "journal": "rollback"},
        threads="one core",
        differs="names as they are, and one system of coordinates in place of all known ones",
    )
    snippet = snippet_of(
        driver,
        {"int8": "int16", "float32": "float64"},
        'layer_options={"LAUNDER": "NO"}, dataset_options={"SPATIALITE": "YES", "INIT_WITH_EPSG": "NO"}',
    )

    def _check_values(self, df: pd.DataFrame) -> None:
        super()._check_values(df)
        if GEOMETRY in df.columns and with_nested_collections(df[GEOMETRY]):
            self._refuse_column(GEOMETRY, "collections of geometries with parts, which it would join")
