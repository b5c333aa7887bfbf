"""Record stores, one file each: ``names()`` lists them, ``get("Kryo[jvm]")`` returns one.

Each file of this folder is a store and declares a class ``Adapter``. Those of the JVM are declarations:
their code is a class of the Maven module in the folder `jvm`.
"""

from pathlib import Path

from adapter_core import BaseAdapter, Registry
from adapter_core.records.maven import MavenModule

registry: Registry[BaseAdapter] = Registry("record_stores", Path(__file__).parent, "record store")
names = registry.names
find = registry.find
get = registry.get

jvm = MavenModule(Path(__file__).parent / "jvm")
