"""Kryo on the JVM, as in the published program."""

from __future__ import annotations

from typing import ClassVar

from adapter_core import Trait
from adapter_core.records.jvm import JvmStore


class Adapter(JvmStore):
    """Kryo as in J. Ommer's program (QAware, 2021), without a count of the records.

    After each record, the file is asked for the bytes that are left, by a system call.
    """

    label = "Kryo[jvm-seed]"
    suffix = ".kryo"
    requires = ()
    format_name = "kryo-seed"
    artifacts = ("kryo",)
    traits: ClassVar = frozenset({Trait.SAFE, Trait.SINGLE_FILE})
    detects_truncation = False  # at the end of a record
