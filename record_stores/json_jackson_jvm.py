"""JSON on the JVM, through Jackson."""

from __future__ import annotations

from typing import ClassVar

from adapter_core import Trait
from adapter_core.records.jvm import JvmStore


class Adapter(JvmStore):
    """JSON, an object a line, through Jackson's data binding."""

    label = "JSON.jackson[jvm]"
    suffix = ".jsonl"
    requires = ()
    format_name = "json-jackson"
    artifacts = ("jackson-databind",)
    traits: ClassVar = frozenset(
        {Trait.SAFE, Trait.PORTABLE, Trait.TEXT, Trait.APPEND, Trait.SINGLE_FILE}
    )
    detects_truncation = False  # at the end of a line
