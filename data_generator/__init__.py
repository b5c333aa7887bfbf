"""Data to measure with: ``table("eq", rows=1_000_000, seed=1)`` or ``images("cifar-like", 1000)``.

Data is a pure function of its name, number and seed: the same in every process and on every machine.
`realistic_table` makes a table of the properties that a `TableSpec` states; `load_images` and
`hub_table` load real data.
"""

from data_generator.catalog.images import image_names, images
from data_generator.catalog.tables import DEFAULT_SEED, names, table
from data_generator.dataset import Dataset
from data_generator.real.hub import hub_table, load_images
from data_generator.realistic.tables import realistic_table
from data_generator.spec.io import read_spec, write_spec
from data_generator.spec.spec import ColumnSpec, TableSpec

__all__ = [
    "DEFAULT_SEED",
    "ColumnSpec",
    "Dataset",
    "TableSpec",
    "hub_table",
    "image_names",
    "images",
    "load_images",
    "names",
    "read_spec",
    "realistic_table",
    "table",
    "write_spec",
]
