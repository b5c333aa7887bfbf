"""JSON on the JVM, through Yasson, as in the published program."""

from __future__ import annotations

from typing import ClassVar

from adapter_core import Trait
from adapter_core.records.jvm import JvmStore


class Adapter(JvmStore):
    """JSON through Yasson as in J. Ommer's program (QAware, 2021): two system calls for each record."""

    label = "JSON.yasson[jvm-seed]"
    suffix = ".jsonl"
    requires = ()
    format_name = "json-yasson-seed"
    artifacts = ("yasson", "parsson")
    traits: ClassVar = frozenset(
        {Trait.SAFE, Trait.PORTABLE, Trait.TEXT, Trait.APPEND, Trait.SINGLE_FILE}
    )
    detects_truncation = False
