"""Apache Parquet on the JVM, with its own groups."""

from __future__ import annotations

from typing import ClassVar

from adapter_core import Trait
from adapter_core.records.jvm import JvmStore


class Adapter(JvmStore):
    """Apache Parquet through the groups of its library, whose fields are lists of values.

    No file system and no configuration of Hadoop is used.
    """

    label = "Parquet.group[jvm]"
    suffix = ".parquet"
    requires = ()
    format_name = "parquet-group"
    artifacts = ("parquet-hadoop",)
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    refuses_nested = "its groups here are made for flat records"
