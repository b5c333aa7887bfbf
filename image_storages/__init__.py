"""Image storages, one file each: ``names()`` lists them, ``get("PNG")`` returns one.

Each file of this folder is a storage and declares a class ``Adapter``, a subclass of
`adapter_core.image_storage.ImageStorage`. Other packages add storages through the entry-point group
``format_bench.image_storages``; the name of an entry is the label, its object the class.
"""

from pathlib import Path

from adapter_core import ImageStorage, Registry

registry: Registry[ImageStorage] = Registry("image_storages", Path(__file__).parent, "image storage")
names = registry.names
find = registry.find
get = registry.get
