"""GeoPackage through GDAL."""

from __future__ import annotations

from typing import ClassVar

from adapter_core.file_facts import FileFacts
from adapter_core.tables.gdal import FeatureFormat, snippet_of


class Adapter(FeatureFormat):
    """OGC GeoPackage through pyogrio: a database of SQLite with an R-tree of the geometries."""

    label = "GeoPackage"
    suffix = ".gpkg"
    suite = "features"
    requires = ("pandas", "pyarrow>=15", "pyogrio>=0.12", "shapely>=2")
    environment = "geospatial"
    driver = "GPKG"
    is_database = True
    keeps_minus_zero = False
    own_names: ClassVar = frozenset({"fid", "geom"})
    file_facts = FileFacts(
        version="3", parts={"page": "4096 bytes", "journal": "rollback"}, threads="up to 4"
    )
    snippet = snippet_of(driver, {"int8": "int16"})
