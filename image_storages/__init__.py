"""Image storages, one file each: ``names()`` lists them, ``get("PNG")`` returns one.

Any file of this folder is a storage: it declares a class ``Adapter``. Other packages add storages
through the entry-point group ``format_bench.image_storages``.
"""

from pathlib import Path

from adapter_core.adapter import Adapter
from adapter_core.registry import Registry

registry: Registry[Adapter] = Registry("image_storages", Path(__file__).parent, "image storage")
names = registry.names
find = registry.find
get = registry.get
