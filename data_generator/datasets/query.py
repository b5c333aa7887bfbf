"""Tables to ask questions to: sorted, clustered and random columns, records, many columns.

``query`` has 20 columns. ``id`` ascends and has no duplicates, ``ts`` is a time with jitter, hence
clustered, and ``rnd`` has the same distribution of values at each place. ``query-keys`` is the second
table of a join, ``query-nested`` has a column of records, and ``query-wide`` 10,000 columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from data_generator.dataset import DatasetDefinition
from data_generator.splitmix import SplitMix, below

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

# Values of the column ``lo``.
FEW = 20
# Values of the column ``hi``.
MANY = 100_000
# Values of the column ``i0``, and rows of ``query-keys``.
KEYS = 1_000
NEEDLE = "needle"
"""Word in one of 500 values of the column ``url``."""
# Columns of ``query-wide``.
WIDTH = 10_000

# One of so many texts has the needle, one of so many values is null.
_NEEDLES, _NULLS = 500, 100
# More than there are rows, and few enough for exact floats and for JSON.
_RANDOM_BITS = 40
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_URL = "https://example.org/"
_URL_LETTERS = 30
_LONGEST_LIST = 4


class _Columns:
    """Columns of some rows, each from a stream of its own."""

    def __init__(self, start: int, stop: int, seed: int) -> None:
        self.start, self.rows, self._seed = start, stop - start, seed

    def words(self, stream: int) -> np.ndarray:
        return SplitMix(self._seed, stream).words(self.start, self.rows)

    def integers(self, stream: int, limit: int) -> np.ndarray:
        import numpy as np

        return below(limit, self.words(stream)).astype(np.int64)

    def floats(self, stream: int) -> np.ndarray:
        """Return floats uniform in [0, 1)."""
        return (self.words(stream) >> 11) * 2.0**-53

    def texts(self, stream: int, limit: int, prefix: str) -> pd.Series:
        import pandas as pd

        numbers = pd.Series(self.integers(stream, limit)).astype("str")
        return prefix + numbers.str.zfill(len(str(limit - 1)))


def rows_of_query(start: int, stop: int, seed: int) -> pd.DataFrame:
    """Return rows of ``query``, from `start` to before `stop`, with the default index."""
    import numpy as np
    import pandas as pd

    made = _Columns(start, stop, seed)
    rows = np.arange(start, stop, dtype=np.int64)
    f2 = made.floats(6) * 100 - 50
    f2[made.integers(7, _NULLS) == 0] = np.nan
    columns = {
        "id": rows * 10 + made.integers(1, 10),
        "ts": 1_700_000_000_000 + rows * 100 + made.integers(2, 50_000),
        "rnd": _scattered(rows, seed),
        "f0": made.floats(4),
        "f1": made.integers(5, 100_000) / 100,
        "f2": f2,
        "lo": made.texts(8, FEW, "group "),
        "hi": made.texts(9, MANY, "user "),
        "url": _urls(made),
        "b": made.integers(10, 2).astype(bool),
        "i0": made.integers(11, KEYS),
        **{f"i{number}": made.integers(11 + number, 10 ** (2 * number)) for number in range(1, 5)},
        **{f"g{number}": made.floats(16 + number) * 10.0**number for number in range(5)},
    }
    return pd.DataFrame(columns)


def _scattered(rows: np.ndarray, seed: int) -> np.ndarray:
    """Return a number for each row in random order, without duplicates, from 0 to below 2**40."""
    import numpy as np

    # Each step can be undone, so different rows have different numbers.
    mask = np.uint64(2**_RANDOM_BITS - 1)
    numbers = (rows.astype(np.uint64) + np.uint64(seed)) & mask
    for factor in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB):
        numbers = (numbers * np.uint64(factor)) & mask
        numbers ^= numbers >> np.uint64(_RANDOM_BITS // 2)
    return numbers.astype(np.int64)


def _urls(made: _Columns) -> pd.Series:
    """Return texts of 50 characters."""
    import numpy as np
    import pandas as pd

    letters = np.frombuffer(_LETTERS.encode(), np.uint8)
    found = np.empty((made.rows, len(_URL) + _URL_LETTERS), np.uint8)
    found[:, : len(_URL)] = np.frombuffer(_URL.encode(), np.uint8)
    for place in range(0, _URL_LETTERS, 8):
        part = found[:, len(_URL) + place : len(_URL) + place + 8]
        octets = made.words(30 + place // 8).view(np.uint8).reshape(-1, 8)[:, : part.shape[1]]
        part[:] = letters[octets.astype(np.uint16) * len(letters) >> 8]
    with_needle = made.integers(29, _NEEDLES) == 0
    word = np.frombuffer(NEEDLE.encode(), np.uint8)
    found[with_needle, -len(word) - 4 : -4] = word
    texts = found.reshape(-1).tobytes().decode("ascii")
    width = found.shape[1]
    return pd.Series([texts[at : at + width] for at in range(0, len(texts), width)], dtype="str")


def rows_of_keys(start: int, stop: int, seed: int) -> pd.DataFrame:
    """Return rows of ``query-keys``: a key that ascends from 0, a text of ten, and a weight."""
    import numpy as np
    import pandas as pd

    made = _Columns(start, stop, seed + 1)
    keys = np.arange(start, stop, dtype=np.int64)
    columns = {"k": keys, "region": made.texts(1, 10, "region "), "weight": made.floats(2)}
    return pd.DataFrame(columns)


def rows_of_nested(start: int, stop: int, seed: int) -> pd.DataFrame:
    """Return rows of ``query-nested``: ``id``, and ``s`` of Arrow's type struct<a, b, c: list>."""
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    made = _Columns(start, stop, seed + 2)
    lengths = made.integers(3, _LONGEST_LIST + 1)
    items = SplitMix(seed + 3, 0).words(start * _LONGEST_LIST, made.rows * _LONGEST_LIST) >> 44
    kept = items.reshape(-1, _LONGEST_LIST)[np.arange(_LONGEST_LIST) < lengths[:, None]]
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    lists = pa.ListArray.from_arrays(pa.array(ends), pa.array(kept.astype(np.int64)))
    texts = pa.array(made.texts(2, MANY, "text "), pa.string())
    fields = {"a": pa.array(made.integers(1, 1_000_000)), "b": texts, "c": lists}
    records = pa.StructArray.from_arrays(list(fields.values()), list(fields))
    ids = np.arange(start, stop, dtype=np.int64)
    return pd.DataFrame({"id": ids, "s": pd.arrays.ArrowExtensionArray(records)})


def rows_of_wide(start: int, stop: int, seed: int) -> pd.DataFrame:
    """Return rows of ``query-wide``: 10,000 columns of floats."""
    import pandas as pd

    made = SplitMix(seed + 4, 0).words(start * WIDTH, (stop - start) * WIDTH)
    values = ((made >> 11) * 2.0**-53).reshape(-1, WIDTH)
    return pd.DataFrame(values, columns=[f"c{number:05}" for number in range(WIDTH)])


DATASETS = (
    DatasetDefinition.of_rows(
        "query", "20 columns to ask questions to: sorted, clustered, random", rows_of_query, 1_000_000
    ),
    DatasetDefinition.of_rows(
        "query-keys", "3 columns, the second table of a join with query", rows_of_keys, KEYS, KEYS
    ),
    DatasetDefinition.of_rows(
        "query-nested", "a column of records with a list in each", rows_of_nested, 300_000
    ),
    DatasetDefinition.of_rows("query-wide", "10,000 columns of floats", rows_of_wide, 1_000, 1_000),
)
