"""Protocol Buffers on the JVM."""

from __future__ import annotations

from typing import ClassVar

from adapter_core import Trait
from adapter_core.records.jvm import JvmStore


class Adapter(JvmStore):
    """Delimited messages of Protocol Buffers, through one buffer each way.

    Texts are kept as their bytes until they are asked for.
    """

    label = "Protobuf[jvm]"
    suffix = ".pb"
    requires = ()
    format_name = "protobuf"
    artifacts = ("protobuf-java",)
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    detects_truncation = False  # at the end of a message
    lazy = "texts are decoded at their first use"
