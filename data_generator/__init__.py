"""Data to measure with: ``table("eq", rows=1_000_000, seed=1)`` or ``images("cifar-like", 1000)``.

Data is a pure function of its name, number and seed: the same in every process and on every machine.
`load_images` reads real sets of images.
"""

from data_generator.dataset import Dataset
from data_generator.hub import load_images
from data_generator.image_sets import image_names, images
from data_generator.tables import DEFAULT_SEED, names, table

__all__ = ["DEFAULT_SEED", "Dataset", "image_names", "images", "load_images", "names", "table"]
