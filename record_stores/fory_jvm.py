"""Apache Fory on the JVM."""

from __future__ import annotations

from typing import ClassVar

from adapter_core import Trait
from adapter_core.records.jvm import JvmStore


class Adapter(JvmStore):
    """Apache Fory's format across languages, each record by itself; it refuses unregistered classes."""

    label = "Fory[jvm]"
    suffix = ".fory"
    requires = ()
    format_name = "fory"
    artifacts = ("fory-core",)
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
