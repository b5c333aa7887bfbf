"""Orders of groceries with nested columns: structs, lists of structs, lists of lists, maps, decimals.

Baskets have 10.1 of 49,688 products in the mean, as the orders have that Instacart published in 2017:
32,434,489 places in more than 3 million orders of more than 200,000 customers
(https://www.kaggle.com/c/instacart-market-basket-analysis). The form of their sizes, the share of the
most frequent product, 1.3 % of the places, and all else are chosen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from data_generator.dataset import DatasetDefinition
from data_generator.splitmix import SplitMix, below
from data_generator.synthetic.uniform_columns import ENGLISH_NOUNS

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa

PRODUCTS, CUSTOMERS = 49_688, 206_209
MOST_PRODUCTS = 100

# A basket has k products with the probability (1 - R)² k R**(k - 1): a mean of (1 + R) / (1 - R).
R = 0.82

# Midnight of 2024-07-01, and the mean time between two orders, in milliseconds.
_FIRST, _STEP = 1_719_792_000_000, 30_000

_TAGS = "fragile frozen gift heavy organic promotion".split()
_OPTIONS = "doorbell entrance floor language note packaging".split()
_CHOICES = "first second third none later as usual".split()
_MOST_LEGS, _MOST_POINTS = 4, 8


class _Rows:
    """Random numbers of some rows; each row has the same in any part of the table."""

    def __init__(self, start: int, stop: int, seed: int) -> None:
        self.start, self.count, self._seed = start, stop - start, seed

    def words(self, stream: int, each: int = 1) -> np.ndarray:
        """Return words, shape (rows, each)."""
        found = SplitMix(self._seed, stream).words(self.start * each, self.count * each)
        return found.reshape(self.count, each)

    def shares(self, stream: int, each: int = 1) -> np.ndarray:
        """Return floats uniform in [0, 1), shape (rows, each)."""
        return (self.words(stream, each) >> 11) * 2.0**-53

    def below(self, limit: int, stream: int, each: int = 1) -> np.ndarray:
        """Return integers in [0, limit), shape (rows, each)."""
        import numpy as np

        return below(limit, self.words(stream, each)).astype(np.int64)


def rows_of_baskets(start: int, stop: int, seed: int) -> pd.DataFrame:
    """Return rows from `start` to before `stop`, with the default index."""
    import numpy as np
    import pandas as pd

    rows = _Rows(start, stop, seed)
    number = np.arange(start, stop, dtype=np.int64)
    kept = np.arange(MOST_PRODUCTS) < _sizes(rows)[:, None]
    # The share of the k most frequent of n products is (k / n)**0.4; square roots are exact everywhere.
    share = rows.shares(2, MOST_PRODUCTS)
    product = (PRODUCTS * share * share * np.sqrt(share)).astype(np.int32)
    quantity = 1 + (rows.below(8, 3, MOST_PRODUCTS) == 0)
    cents = 50 + (product.astype(np.int64) * 7_919) % 1_950
    total = (cents * quantity * kept).sum(axis=1)
    skewed = rows.shares(4)[:, 0]
    df = pd.DataFrame(
        {
            "order": number,
            "customer": (CUSTOMERS * skewed * skewed).astype(np.int64),
            "placed": (_FIRST + number * _STEP + rows.below(_STEP, 5)[:, 0]).astype("datetime64[ms]"),
        }
    )
    df["total"] = _decimals(total).to_pandas().astype(object)
    items = {"product": product[kept], "quantity": quantity[kept].astype(np.int8)}
    nested = {
        "items": _lists(kept, _structs({**items, "price": _decimals(cents[kept])})),
        "tags": _texts_in_lists(rows, _TAGS, 6),
        "options": _options(rows),
        "address": _addresses(rows),
        "route": _routes(rows),
    }
    for name, array in nested.items():
        df[name] = pd.arrays.ArrowExtensionArray(array)
    return df


def _sizes(rows: _Rows) -> np.ndarray:
    import numpy as np

    shares = [(1 - R) * (1 - R)]
    for size in range(2, MOST_PRODUCTS):
        shares.append(shares[-1] * R * size / (size - 1))
    return 1 + np.searchsorted(np.cumsum(shares), rows.shares(1)[:, 0], side="right")


def _decimals(cents: np.ndarray) -> pa.Array:
    """Return numbers of cents as decimals of two digits after the point."""
    import numpy as np
    import pyarrow as pa

    halves = np.stack([cents, cents >> 63], axis=1).astype(np.int64)
    return pa.Array.from_buffers(pa.decimal128(9, 2), len(cents), [None, pa.py_buffer(halves)])


def _structs(fields: dict[str, Any]) -> pa.Array:
    import pyarrow as pa

    return pa.StructArray.from_arrays([pa.array(each) for each in fields.values()], list(fields))


def _ends(kept: np.ndarray) -> pa.Array:
    """Return the offsets of lists of as many items as are kept in each row, shape (rows + 1,)."""
    import numpy as np
    import pyarrow as pa

    return pa.array(np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(np.int32))


def _lists(kept: np.ndarray, items: pa.Array) -> pa.Array:
    import pyarrow as pa

    return pa.ListArray.from_arrays(_ends(kept), items)


def _texts_in_lists(rows: _Rows, words: list[str], stream: int) -> pa.Array:
    """Return lists of some words each; half of the lists are empty."""
    import numpy as np
    import pyarrow as pa

    kept = (rows.below(8, stream, len(words)) == 0) & (rows.below(4, stream + 1) > 0)
    places = np.broadcast_to(np.arange(len(words)), kept.shape)[kept]
    return _lists(kept, pa.array(words, pa.string()).take(pa.array(places)))


def _options(rows: _Rows) -> pa.Array:
    """Return maps of text to text without repeated keys, of one entry in the mean."""
    import numpy as np
    import pyarrow as pa

    kept = rows.below(6, 10, len(_OPTIONS)) == 0
    keys = np.broadcast_to(np.arange(len(_OPTIONS)), kept.shape)[kept]
    chosen = rows.below(len(_CHOICES), 11, len(_OPTIONS))[kept]
    entries = [
        pa.array(words, pa.string()).take(pa.array(places))
        for words, places in ((_OPTIONS, keys), (_CHOICES, chosen))
    ]
    return pa.MapArray.from_arrays(_ends(kept), *entries)


def _addresses(rows: _Rows) -> pa.Array:
    """Return structs of town, street, number and floor; one in ten is null, and three in four floors."""
    import pyarrow as pa
    import pyarrow.compute as pc

    nouns = pa.array([each.title() for each in ENGLISH_NOUNS], pa.string())
    town, street = (rows.below(limit, stream)[:, 0] for limit, stream in ((60, 12), (len(nouns), 13)))
    ending = pa.scalar(" Street", pa.string())
    parts = {
        "town": nouns.take(pa.array(town)),
        "street": pc.binary_join_element_wise(nouns.take(pa.array(street)), ending, ""),
        "number": pa.array(1 + rows.below(200, 14)[:, 0].astype("int16")),
        "floor": pa.array(rows.below(12, 15)[:, 0].astype("int8"), mask=rows.below(4, 16)[:, 0] > 0),
    }
    absent = pa.array(rows.below(10, 17)[:, 0] == 0)
    return pa.StructArray.from_arrays(list(parts.values()), list(parts), mask=absent)


def _routes(rows: _Rows) -> pa.Array:
    """Return lists of legs, each a list of distances along it; one leg in eight is null."""
    import numpy as np
    import pyarrow as pa

    legs = np.arange(_MOST_LEGS) < 1 + rows.below(_MOST_LEGS, 18)
    lengths = rows.below(_MOST_POINTS, 19, _MOST_LEGS)[legs]
    absent = (rows.below(8, 20, _MOST_LEGS) == 0)[legs]
    points = rows.below(10_000, 21, _MOST_LEGS * _MOST_POINTS).reshape(-1, _MOST_LEGS, _MOST_POINTS)
    kept = np.arange(_MOST_POINTS) < np.where(absent, 0, lengths)[:, None]
    metres = pa.array((points[legs][kept] / 10).astype(np.float32))
    inner = pa.ListArray.from_arrays(_ends(kept), metres, mask=pa.array(absent))
    return _lists(legs, inner)


DATASETS = (
    DatasetDefinition.of_rows(
        "baskets",
        "orders with lists of structs, lists of lists, maps, structs and decimals",
        rows_of_baskets,
        100_000,
        20_000,
    ),
)
