"""SQLite on the JVM, by JDBC."""

from __future__ import annotations

from typing import ClassVar

from adapter_core import Trait
from adapter_core.records.jvm import JvmStore


class Adapter(JvmStore):
    """SQLite by JDBC: one table, one transaction, batches.

    The codecs compress the whole file; a decompressed copy beside it is read.
    """

    label = "SQLite[jvm]"
    suffix = ".sqlite"
    requires = ()
    format_name = "sqlite"
    artifacts = ("sqlite-jdbc",)
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND, Trait.SINGLE_FILE})
    seeks = ""
    refuses_nested = "a table has flat records"
    # A page that is cut short is filled with zeros.
    detects_truncation = False
