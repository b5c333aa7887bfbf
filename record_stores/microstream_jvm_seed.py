"""MicroStream, as in the published program."""

from __future__ import annotations

from typing import ClassVar

from adapter_core.records.jvm import JvmStore


class Adapter(JvmStore):
    """MicroStream as in J. Ommer's program (QAware, 2021), with a collection of its own garbage."""

    label = "MicroStream[jvm-seed]"
    suffix = ".microstream"
    requires = ()
    format_name = "micro-stream-seed"
    artifacts = ("microstream-storage-embedded",)
    traits: ClassVar = frozenset()
    codecs: ClassVar = ()
    newest_java = 21
    detects_truncation = False
