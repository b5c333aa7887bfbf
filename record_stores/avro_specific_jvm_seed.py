"""Apache Avro on the JVM, as in the published program."""

from __future__ import annotations

from typing import ClassVar

from adapter_core import Trait
from adapter_core.records.jvm import JvmStore


class Adapter(JvmStore):
    """Apache Avro as in J. Ommer's program (QAware, 2021), which has its objects before it writes.

    Its codec gzip has level 9. Otherwise files and reads are the same as with ``Avro.specific[jvm]``.
    """

    label = "Avro.specific[jvm-seed]"
    suffix = ".avro"
    requires = ()
    format_name = "avro-specific-seed"
    artifacts = ("avro",)
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND, Trait.SINGLE_FILE})
    # The records end where the file ends, within a block too.
    detects_truncation = False
