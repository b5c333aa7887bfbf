"""Data for benchmarks: tables, images, n-d arrays, records and samples by name.

``table("eq", rows=1_000_000)``, ``images("cifar-like")``, ``array("noise")``, ``records("entities")``,
``samples("training-rows")``: data are a pure function of name, number and seed, the same in every
process and on every machine.
`blocks` returns a table block by block.
`datasets.find` returns the definition of a named data set. `realistic_table` generates a table with the
properties of a `TableSpec`; `load_images` and `hub_table` load real data from the Hugging Face hub.
"""

from data_generator import datasets
from data_generator.catalog import (
    array,
    array_names,
    blocks,
    image_names,
    images,
    names,
    record_names,
    records,
    sample_names,
    samples,
    table,
)
from data_generator.dataset import Dataset, DatasetDefinition
from data_generator.hub import hub_table, load_images
from data_generator.realistic.tables import realistic_table
from data_generator.spec.io import read_spec, write_spec
from data_generator.spec.spec import DEFAULT_SEED, ColumnSpec, TableSpec

__all__ = [
    "DEFAULT_SEED",
    "ColumnSpec",
    "Dataset",
    "DatasetDefinition",
    "TableSpec",
    "array",
    "array_names",
    "blocks",
    "datasets",
    "hub_table",
    "image_names",
    "images",
    "load_images",
    "names",
    "read_spec",
    "realistic_table",
    "record_names",
    "records",
    "sample_names",
    "samples",
    "table",
    "write_spec",
]
