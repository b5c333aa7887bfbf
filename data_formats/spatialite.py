"""SpatiaLite through GDAL."""

from __future__ import annotations

from typing import ClassVar

from adapter_core.file_facts import FileFacts
from adapter_core.tables.gdal import FeatureFormat, snippet_of


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
    keeps_nested_collections = False
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
