"""A slowly changing table: products in all their versions, each with the days that it was valid.

As in the dimensions of TPC-DS that keep their history, by its generator dsdgen (its function
``setSCDKeys``), of six rows one product has one version, one has two and one three, so half of the rows
are current, and versions change at halves and thirds of the whole time. A change renews some of the
columns, and leaves the others as they were; which ones is chosen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from data_generator.dataset import DatasetDefinition
from data_generator.splitmix import SplitMix, below
from data_generator.synthetic.uniform_columns import ENGLISH_NOUNS

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

_CATEGORIES = "Books Children Electronics Home Jewelry Men Music Shoes Sports Women".split()
_BRANDS = 100

# Versions of the products of six rows: the product of each row, its version, and the number of them.
_PRODUCT, _VERSION, _VERSIONS = (0, 1, 1, 2, 2, 2), (0, 0, 1, 0, 1, 2), (1, 2, 2, 3, 3, 3)
_MOST = 3

# The first day, 1997-10-27, in days since 1970, and the days of three years.
_FIRST_DAY, _DAYS = 10_161, 1_095


def rows_of_versions(start: int, stop: int, seed: int) -> pd.DataFrame:
    """Return rows from `start` to before `stop`, with the default index."""
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    number = np.arange(start, stop, dtype=np.int64)
    place = number % len(_PRODUCT)
    product = number // len(_PRODUCT) * _MOST + np.take(_PRODUCT, place)
    version, versions = np.take(_VERSION, place), np.take(_VERSIONS, place)

    def drawn(stream: int, limit: int) -> np.ndarray:
        return _renewed(product, version, SplitMix(seed, stream), limit)

    until = _FIRST_DAY + _DAYS * (version + 1) // versions - 1
    is_current = version + 1 == versions
    cents = 99 + drawn(1, 9_900)
    halves = np.stack([cents, cents >> 63], axis=1).astype(np.int64)
    price = pa.Array.from_buffers(pa.decimal128(7, 2), len(cents), [None, pa.py_buffer(halves)])
    nouns = pd.Series(ENGLISH_NOUNS, dtype="str")
    first, last = (drawn(stream, len(nouns)) for stream in (2, 3))
    days = pa.array((_FIRST_DAY + _DAYS * version // versions).astype(np.int32)).view(pa.date32())
    ends = pa.array(until.astype(np.int32), mask=is_current).cast(pa.date32())
    columns = {
        "key": number,
        "product": ("PRODUCT" + pd.Series(product).astype("str").str.zfill(9)).astype("str"),
        "valid_from": days.to_pandas(),
        "valid_to": ends.to_pandas(),
        "is_current": is_current,
        "name": nouns.take(first).reset_index(drop=True) + " " + nouns.take(last).reset_index(drop=True),
        "category": pd.Series(_CATEGORIES, dtype="str").take(drawn(4, len(_CATEGORIES))).array,
        "brand": 1 + drawn(5, _BRANDS),
        "price": price.to_pandas(),
    }
    return pd.DataFrame(columns)


def _renewed(product: np.ndarray, version: np.ndarray, random: SplitMix, limit: int) -> np.ndarray:
    """Return integers in [0, limit), which half of the later versions keep from the one before."""
    import numpy as np

    if not len(product):
        return np.zeros(0, np.int64)
    first = int(product[0]) * _MOST
    words = random.words(first, (int(product[-1]) + 1) * _MOST - first)
    values, is_new = below(limit, words).astype(np.int64), (words & np.uint64(1)).astype(bool)
    base = product * _MOST - first
    found = values[base]
    for later in range(1, _MOST):
        renewed = (version >= later) & is_new[base + later]
        found = np.where(renewed, values[base + later], found)
    return found


DATASETS = (
    DatasetDefinition.of_rows(
        "versions",
        "a slowly changing table: products in all their versions, with the days of each",
        rows_of_versions,
        1_000_000,
    ),
)
