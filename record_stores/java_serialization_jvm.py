"""Serialization of Java itself."""

from __future__ import annotations

from typing import ClassVar

from adapter_core import Trait
from adapter_core.records.jvm import JvmStore


class Adapter(JvmStore):
    """Serialization of Java, one stream of objects: a text that is one object is written once.

    No filter is set, its default.
    """

    label = "Java.serialization[jvm]"
    suffix = ".ser"
    requires = ()
    format_name = "java-serialization"
    artifacts = ()
    traits: ClassVar = frozenset({Trait.SINGLE_FILE})
    runs_code = "`readObject` of each class that the file names runs, before its type is known"
