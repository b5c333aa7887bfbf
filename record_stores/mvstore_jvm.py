"""MVStore, the storage engine of H2."""

from __future__ import annotations

from typing import ClassVar

from adapter_core import Trait
from adapter_core.records.jvm import JvmStore


class Adapter(JvmStore):
    """H2's MVStore: a B-tree by position, with a data type for the records.

    Its default type would be the serialization of Java, which runs code. The codecs compress the whole
    file; a decompressed copy is read.
    """

    label = "MVStore[jvm]"
    suffix = ".mv"
    requires = ()
    format_name = "mvstore"
    artifacts = ("h2-mvstore",)
    traits: ClassVar = frozenset({Trait.SAFE, Trait.APPEND, Trait.SINGLE_FILE})
    seeks = ""
    refuses_nested = "its data type here is made for flat records"
    # It opens the last version of the map that is complete in the file.
    detects_truncation = False
