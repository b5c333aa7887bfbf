"""DuckDB on the JVM, by its appender and JDBC."""

from __future__ import annotations

from typing import ClassVar

from adapter_core import Trait
from adapter_core.records.jvm import JvmStore


class Adapter(JvmStore):
    """DuckDB by its appender and JDBC, with one thread.

    It compresses columns by itself. The codecs compress the whole file; a decompressed copy is read.
    """

    label = "DuckDB[jvm]"
    suffix = ".duckdb"
    requires = ()
    format_name = "duckdb"
    artifacts = ("duckdb_jdbc",)
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND, Trait.SINGLE_FILE})
    seeks = ""
    refuses_nested = "a table of flat records is appended here"
