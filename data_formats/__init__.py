"""Table formats, one file each: ``names()`` lists them, ``get("Parquet")`` returns one.

Each file of this folder is a format and declares a class ``Adapter``, a subclass of
`adapter_core.data_format.DataFormat`. Other packages add formats through the entry-point group
``format_bench.data_formats``; the name of an entry is the label, its object the class.
"""

from pathlib import Path

from adapter_core import DataFormat, Registry

registry: Registry[DataFormat] = Registry("data_formats", Path(__file__).parent, "data format")
names = registry.names
find = registry.find
get = registry.get
