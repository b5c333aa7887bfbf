"""Apache Parquet on the JVM, with generated classes of Avro."""

from __future__ import annotations

from typing import ClassVar

from adapter_core import Trait
from adapter_core.records.jvm import JvmStore


class Adapter(JvmStore):
    """Apache Parquet through generated classes of Avro: objects share the texts of a dictionary.

    No file system and no configuration of Hadoop is used.
    """

    label = "Parquet.specific[jvm]"
    suffix = ".parquet"
    requires = ()
    format_name = "parquet-specific"
    artifacts = ("parquet-avro", "avro")
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
