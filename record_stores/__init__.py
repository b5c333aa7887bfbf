"""Record stores, one file each: ``names()`` lists them, ``get("Kryo[jvm]")`` returns one.

Each file of this folder is a store and declares a class ``Adapter``, a subclass of
`adapter_core.record_store.RecordStore`. The formats of the JVM are entries of the table
`jvm/adapters.toml`, each beside its class in that Maven module; their adapter is
`adapter_core.records.jvm.JvmStore`. Other packages add stores through the entry-point group
``format_bench.record_stores``; the name of an entry is the label, its object the class.
"""

from pathlib import Path
from typing import Any

from adapter_core import Registry
from adapter_core.records.jvm import HEAP_GIB, JvmRequest, JvmStore
from adapter_core.records.maven import MavenModule

__all__ = ["HEAP_GIB", "JvmRequest", "JvmStore", "find", "get", "jvm", "names", "registry"]

registry: Registry[Any] = Registry("record_stores", Path(__file__).parent, "record store")
names = registry.names
find = registry.find
get = registry.get

jvm = MavenModule(Path(__file__).parent / "jvm")
