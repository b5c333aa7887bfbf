"""JSON on the JVM, through Yasson."""

from __future__ import annotations

from typing import ClassVar

from adapter_core import Trait
from adapter_core.records.jvm import JvmStore


class Adapter(JvmStore):
    """JSON, an object a line, through Yasson, the reference implementation of JSON-B."""

    label = "JSON.yasson[jvm]"
    suffix = ".jsonl"
    requires = ()
    format_name = "json-yasson"
    artifacts = ("yasson", "parsson")
    traits: ClassVar = frozenset(
        {Trait.SAFE, Trait.PORTABLE, Trait.TEXT, Trait.APPEND, Trait.SINGLE_FILE}
    )
    detects_truncation = False
