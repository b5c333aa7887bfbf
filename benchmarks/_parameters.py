"""The scale, and parameter lists that come from the checkout's own files.

asv addresses cases by index. So the lists must not come from the installed package: an older commit
that has fewer formats would store its values under other formats' names.
"""

import contextlib
import importlib.util
import os
import sys
from collections.abc import Collection
from pathlib import Path

with contextlib.suppress(Exception):
    # Done before asv's fork server forks, so that hundreds of processes need not.
    import pandas  # noqa: F401
    import pyarrow  # noqa: F401

    import data_formats
    import image_storages

    for family in (data_formats, image_storages):
        family.names()

ROOT = Path(__file__).resolve().parent.parent

SCALES = {"full": 1_000_000, "quick": 10_000, "tiny": 100}
"""Rows of a table; "tiny" is for tests of the suites themselves."""

SCALE = os.environ.get("FORMAT_BENCH_SCALE", "full")
if SCALE not in SCALES:
    raise ValueError(f"FORMAT_BENCH_SCALE is {SCALE!r}; it can be {', '.join(SCALES)}")
ROWS = SCALES[SCALE]

COMPRESSED_ROWS = {"full": 10_000_000, "quick": 30_000, "tiny": 100}[SCALE]
"""Rows of a table that is compressed; as many as the thesis has, at full scale."""

IMAGES = {
    "full": {"cifar-like": 50_000, "imagenet-like": 126_689},
    "quick": {"cifar-like": 2_000, "imagenet-like": 200},
    "tiny": {"cifar-like": 40, "imagenet-like": 8},
}[SCALE]
"""Images of each set; as many as CIFAR-10 and ImageNet-100 have for training, at full scale."""

CACHES = ["warm", "cold"]
"""States of the page cache that reads begin with."""

LIMIT_SECONDS = {"full": 1800, "quick": 90, "tiny": 8}[SCALE]
"""After which a cell counts as timed out: a hundred times what a usual format needs."""


def labels(family: str, suites: Collection[str] = ("",)) -> list[str]:
    """Return the labels of the adapters in a folder of the checkout, as in "data_formats".

    Of those, the ones that some suites measure; by default the family's first suite.
    """
    name = "checkout_listing"
    if name not in sys.modules:
        path = ROOT / "adapter_core" / "listing.py"
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module  # dataclasses look their module up
        spec.loader.exec_module(module)
    declarations = sys.modules[name].declarations(ROOT / family)
    return [each.label for each in declarations if each.suite in suites]
