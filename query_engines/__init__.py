"""Query engines, one file each: ``get("Parquet[duckdb]")`` returns one on the files of a format.

Each file of this folder is an engine and declares a class ``Adapter``, a subclass of
`adapter_core.query_engine.QueryEngine`. Other packages add engines through the entry-point group
``format_bench.query_engines``; the name of an entry is the engine's label, its object the class. The
registry lists pairs of a format and an engine.
"""

from pathlib import Path

import data_formats
from adapter_core.query_engine import EngineOnFormat, EngineRegistry

__all__ = ["EngineOnFormat", "engines", "find", "get", "names", "registry"]

registry = EngineRegistry("query_engines", Path(__file__).parent, data_formats.registry)
names = registry.names
find = registry.find
get = registry.get
engines = registry.engines
