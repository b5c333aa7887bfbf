"""Apache Avro on the JVM, with generic records."""

from __future__ import annotations

from typing import ClassVar

from adapter_core import Trait
from adapter_core.records.jvm import JvmStore


class Adapter(JvmStore):
    """Object container file of Apache Avro, read as generic records, whose texts are of the class Utf8.

    The codecs are Avro's own: each block of 64 kB is compressed by itself.
    """

    label = "Avro.generic[jvm]"
    suffix = ".avro"
    requires = ()
    format_name = "avro-generic"
    artifacts = ("avro",)
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND, Trait.SINGLE_FILE})
    # The records end where the file ends, within a block too.
    detects_truncation = False
