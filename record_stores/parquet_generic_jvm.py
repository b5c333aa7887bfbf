"""Apache Parquet on the JVM, with generic records of Avro."""

from __future__ import annotations

from typing import ClassVar

from adapter_core import Trait
from adapter_core.records.jvm import JvmStore


class Adapter(JvmStore):
    """Apache Parquet through generic records of Avro, whose texts are of the class Utf8.

    No file system and no configuration of Hadoop is used.
    """

    label = "Parquet.generic[jvm]"
    suffix = ".parquet"
    requires = ()
    format_name = "parquet-generic"
    artifacts = ("parquet-avro", "avro")
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
