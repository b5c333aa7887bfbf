"""Protocol Buffers on the JVM, as in the published program."""

from __future__ import annotations

from typing import ClassVar

from adapter_core import Trait
from adapter_core.records.jvm import JvmStore


class Adapter(JvmStore):
    """Delimited messages of Protocol Buffers as in J. Ommer's program (QAware, 2021), without buffers.

    Writing a message takes a system call or two, and reading allocates a buffer of 4 kB for each.
    """

    label = "Protobuf[jvm-seed]"
    suffix = ".pb"
    requires = ()
    format_name = "protobuf-seed"
    artifacts = ("protobuf-java",)
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    detects_truncation = False  # nor within the last message, at the end of a field
    lazy = "texts are decoded at their first use"
