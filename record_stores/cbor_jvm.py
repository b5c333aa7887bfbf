"""CBOR on the JVM, through Jackson."""

from __future__ import annotations

from typing import ClassVar

from adapter_core import Trait
from adapter_core.records.jvm import JvmStore


class Adapter(JvmStore):
    """CBOR, a sequence of maps, through Jackson's data binding."""

    label = "CBOR[jvm]"
    suffix = ".cbor"
    requires = ()
    format_name = "cbor"
    artifacts = ("jackson-dataformat-cbor",)
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND, Trait.SINGLE_FILE})
    detects_truncation = False
