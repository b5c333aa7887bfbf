"""Smile on the JVM, through Jackson."""

from __future__ import annotations

from typing import ClassVar

from adapter_core import Trait
from adapter_core.records.jvm import JvmStore


class Adapter(JvmStore):
    """Smile, binary JSON with shared names of fields, through Jackson's data binding."""

    label = "Smile[jvm]"
    suffix = ".smile"
    requires = ()
    format_name = "smile"
    artifacts = ("jackson-dataformat-smile",)
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    detects_truncation = False
