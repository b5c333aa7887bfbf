"""Apache Parquet on the JVM through generated classes of Avro, as in the published program."""

from __future__ import annotations

from typing import ClassVar

from adapter_core import Trait
from adapter_core.records.jvm import JvmStore


class Adapter(JvmStore):
    """Apache Parquet as in J. Ommer's program (QAware, 2021), which has Avro's objects before it writes.

    Files and reads are the same as with ``Parquet.specific[jvm]``.
    """

    label = "Parquet.specific[jvm-seed]"
    suffix = ".parquet"
    requires = ()
    format_name = "parquet-specific-seed"
    artifacts = ("parquet-avro", "avro")
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
