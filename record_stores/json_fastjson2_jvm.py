"""JSON on the JVM, through fastjson2."""

from __future__ import annotations

from typing import ClassVar

from adapter_core import Trait
from adapter_core.records.jvm import JvmStore


class Adapter(JvmStore):
    """JSON, an object a line, through fastjson2, which by default ignores names of classes."""

    label = "JSON.fastjson2[jvm]"
    suffix = ".jsonl"
    requires = ()
    format_name = "json-fastjson2"
    artifacts = ("fastjson2",)
    traits: ClassVar = frozenset(
        {Trait.SAFE, Trait.PORTABLE, Trait.TEXT, Trait.APPEND, Trait.SINGLE_FILE}
    )
    detects_truncation = False
