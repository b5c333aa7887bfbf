"""Visits to web pages: one flat table for the questions of web analytics.

Keys are skewed, as in real logs: value number k of n has the share of a cube, so that few sites,
visitors, phrases and pages make most of the rows, and most keys are rare. Rows ascend in time through
July 2024. Nothing is copied from a log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from data_generator.dataset import Dataset, DatasetDefinition
from data_generator.splitmix import SplitMix, below

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

# Midnight of 2024-07-01, in milliseconds.
FIRST = 1_719_792_000_000

# Milliseconds of July.
MONTH = 31 * 86_400_000

# The most visited site, which a dashboard shows.
DASHBOARD = 62

SITES, REGIONS, PHRASES, MODELS, BRANDS = 5_000, 1_000, 100_000, 150, 10

# Rows made at once: texts of more would be in memory twice.
_BLOCK_ROWS = 250_000

_WORDS = (
    "maps news weather sport music video games cars flats travel recipes school films photos mail shop "
    "phones books health garden"
).split()


def rows_of_visits(start: int, stop: int, rows: int, seed: int) -> pd.DataFrame:
    """Return rows of a table of visits, with the default index, 21 columns.

    Parameters
    ----------
    start, stop : int
        First row, and the row after the last one.
    rows : int
        Number of rows of the whole table, over which time and visitors are spread.
    seed : int
        Seed of all columns.
    """
    import numpy as np
    import pandas as pd

    def words(stream: int) -> np.ndarray:
        return SplitMix(seed, stream).words(start, stop - start)

    def skewed(stream: int, values: int) -> np.ndarray:
        share = (words(stream) >> 11) * 2.0**-53
        return (values * share**3).astype(np.int64)

    def rarely(stream: int, one_in: int, values: np.ndarray | int = 1) -> np.ndarray:
        return np.where(below(one_in, words(stream)) == 0, values, 0)

    number = np.arange(start, stop, dtype=np.int64)
    step = MONTH / rows
    time = FIRST + (number * step).astype(np.int64) + (below(1_000, words(1)) * step / 1_000).astype(int)
    visitor = skewed(2, max(1, rows // 6))
    site = skewed(3, SITES)
    page = skewed(4, 200)
    phrase = rarely(5, 3, 1 + skewed(6, PHRASES))
    model = rarely(7, 12, 1 + skewed(8, MODELS))
    url = _pages(site, page)
    columns = {
        "visit": (words(9) >> 2).astype(np.int64),
        "visitor": visitor * 7_919 + 1_000_000_007,
        "time": time.astype("datetime64[ms]"),
        "day": (time // 86_400_000).astype("datetime64[D]").astype("datetime64[ms]"),
        "site": np.where(site == 0, DASHBOARD, np.where(site == DASHBOARD, 0, site)),
        "region": skewed(10, REGIONS),
        "address": (visitor * 2_654_435_761 + skewed(11, 3)) % 2**32,
        "engine": np.where(phrase > 0, 1 + skewed(12, 30), 0),
        "campaign": rarely(13, 160, 1 + skewed(14, 18)),
        "source": skewed(15, 10) - 1,
        "refresh": rarely(16, 6),
        "link": rarely(17, 9),
        "width": 320 + 16 * below(150, words(18)).astype(np.int64),
        "height": 240 + 16 * below(90, words(19)).astype(np.int64),
        "phrase": _texts(phrase, "how to find {0} {1}"),
        "url": url,
        "title": _texts(1 + page % 40, "All about {0}, page {1}", capitals=True),
        "referrer": _referrers(rarely(20, 2, 1 + skewed(21, 3_000))),
        "model": _texts(model, "model {1}"),
        "brand": np.where(model > 0, model % BRANDS, 0),
    }
    df = pd.DataFrame(columns)
    df["url_hash"] = (site * 1_000_003 + page * 2_654_435_761) % 2**61
    return df


def _make(rows: int, seed: int) -> Dataset:
    import pandas as pd

    starts = range(0, max(1, rows), _BLOCK_ROWS)
    parts = [rows_of_visits(at, min(at + _BLOCK_ROWS, rows), max(1, rows), seed) for at in starts]
    return Dataset("visits", pd.concat(parts, ignore_index=True))


def _pages(site: np.ndarray, page: np.ndarray) -> pd.Series:
    found = {
        (s, p): f"https://site{s}.{'shop' if s % 9 == 0 else 'example'}/{_WORDS[(s + p) % 20]}/{p}.html"
        for s, p in set(zip(site.tolist(), page.tolist(), strict=True))
    }
    return _series([found[key] for key in zip(site.tolist(), page.tolist(), strict=True)])


def _texts(number: np.ndarray, form: str, *, capitals: bool = False) -> pd.Series:
    """Return a text for each number; an empty one for 0."""
    import numpy as np

    values, places = np.unique(number, return_inverse=True)
    texts = []
    for each in values.tolist():
        word = _WORDS[each % len(_WORDS)]
        texts.append(form.format(word.title() if capitals else word, each) if each else "")
    return _series(np.array(texts, object)[places])


def _referrers(number: np.ndarray) -> pd.Series:
    import numpy as np

    values, places = np.unique(number, return_inverse=True)
    texts = [
        f"http{'s' * (each % 2)}://ref{each % 97}.example/{_WORDS[each % 20]}/{each}" if each else ""
        for each in values.tolist()
    ]
    return _series(np.array(texts, object)[places])


def _series(texts: object) -> pd.Series:
    import pandas as pd

    return pd.Series(texts, dtype="str")


DATASETS = (
    DatasetDefinition(
        name="visits",
        family="tables",
        description="21 columns on visits to web pages, with skewed keys, as of ClickBench",
        make=_make,
        default_count=1_000_000,
        quick_count=100_000,
    ),
)
