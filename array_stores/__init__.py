"""N-d array stores, one file each: ``names()`` lists them, ``get("Zarr.dir")`` returns one.

Each file of this folder is a store and declares a class ``Adapter``, a subclass of
`adapter_core.array_store.ArrayStore`. Other packages add stores through the entry-point group
``format_bench.array_stores``; the name of an entry is the label, its object the class.
"""

from pathlib import Path

from adapter_core import ArrayStore, Registry

registry: Registry[ArrayStore] = Registry("array_stores", Path(__file__).parent, "array store")
names = registry.names
find = registry.find
get = registry.get
