"""MessagePack on the JVM, through msgpack-core."""

from __future__ import annotations

from typing import ClassVar

from adapter_core import Trait
from adapter_core.records.jvm import JvmStore


class Adapter(JvmStore):
    """MessagePack, a sequence of arrays of the fields, through msgpack-core."""

    label = "MessagePack[jvm]"
    suffix = ".msgpack"
    requires = ()
    format_name = "message-pack"
    artifacts = ("msgpack-core",)
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND, Trait.SINGLE_FILE})
    refuses_nested = "arrays of flat records are packed by hand here"
    detects_truncation = False
