"""MicroStream, its last release."""

from __future__ import annotations

from typing import ClassVar

from adapter_core.records.jvm import JvmStore


class Adapter(JvmStore):
    """MicroStream: the list of records as a graph of objects, in a folder.

    The type dictionary in the folder names the classes, whose constructors do not run.
    """

    label = "MicroStream[jvm]"
    suffix = ".microstream"
    requires = ()
    format_name = "micro-stream"
    artifacts = ("microstream-storage-embedded",)
    traits: ClassVar = frozenset()
    codecs: ClassVar = ()
    newest_java = 21
    detects_truncation = False
