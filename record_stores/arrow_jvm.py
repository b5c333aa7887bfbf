"""Stream of Apache Arrow on the JVM."""

from __future__ import annotations

from typing import ClassVar

from adapter_core import Trait
from adapter_core.records.jvm import JvmStore


class Adapter(JvmStore):
    """Stream of Apache Arrow: batches of columns, turned to objects row by row."""

    label = "Arrow[jvm]"
    suffix = ".arrows"
    requires = ()
    format_name = "arrow"
    artifacts = ("arrow-vector",)
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    refuses_nested = "its columns here are made for flat records"
