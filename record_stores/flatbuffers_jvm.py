"""FlatBuffers on the JVM."""

from __future__ import annotations

from typing import ClassVar

from adapter_core import Trait
from adapter_core.records.jvm import JvmStore


class Adapter(JvmStore):
    """FlatBuffers: tables with their sizes in front, read as views of the bytes of the whole file."""

    label = "FlatBuffers[jvm]"
    suffix = ".fb"
    requires = ()
    format_name = "flatbuffers"
    artifacts = ("flatbuffers-java",)
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    refuses_nested = "its tables here are made for flat records"
    detects_truncation = False
    lazy = "each use of a field looks it up and makes its text"
