"""Loaders that feed a model, one file each: ``names()`` lists them, ``get("WebDataset")`` returns one.

Each file of this folder is a loader and declares a class ``Adapter``, a subclass of
`adapter_core.training_loader.TrainingLoader`; plain loops over storages are entries of a table. Other
packages add loaders through the entry-point group ``format_bench.training_loaders``; the name of an
entry is the label, its object the class.
"""

from pathlib import Path

from adapter_core import Registry
from adapter_core.training_loader import TrainingLoader

registry: Registry[TrainingLoader]
registry = Registry("training_loaders", Path(__file__).parent, "training loader")
names = registry.names
find = registry.find
get = registry.get
