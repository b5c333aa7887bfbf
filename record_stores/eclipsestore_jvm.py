"""EclipseStore, the successor of MicroStream."""

from __future__ import annotations

from typing import ClassVar

from adapter_core.records.jvm import JvmStore


class Adapter(JvmStore):
    """EclipseStore: the list of records as a graph of objects, in a folder.

    The type dictionary in the folder names the classes, whose constructors do not run.
    """

    label = "EclipseStore[jvm]"
    suffix = ".eclipsestore"
    requires = ()
    format_name = "eclipse-store"
    artifacts = ("storage-embedded",)
    traits: ClassVar = frozenset()
    codecs: ClassVar = ()
    detects_truncation = False
