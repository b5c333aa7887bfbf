"""Kryo on the JVM."""

from __future__ import annotations

from typing import ClassVar

from adapter_core import Trait
from adapter_core.records.jvm import JvmStore


class Adapter(JvmStore):
    """Kryo: the number of records, then each by the serializer of its fields.

    The class is registered: Kryo refuses to make objects of others. The serializer of fields reads a
    file of an older class wrongly, without an error.
    """

    label = "Kryo[jvm]"
    suffix = ".kryo"
    requires = ()
    format_name = "kryo"
    artifacts = ("kryo",)
    traits: ClassVar = frozenset({Trait.SAFE, Trait.SINGLE_FILE})
