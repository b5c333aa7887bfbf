"""Data to measure with: ``table("eq", rows=1_000_000, seed=1)`` gives a data set.

Data is a pure function of (name, rows, seed): the same in every process and on every machine.
"""

from data_generator.dataset import Dataset
from data_generator.tables import DEFAULT_SEED, names, table

__all__ = ["DEFAULT_SEED", "Dataset", "names", "table"]
