"""Texts with their embeddings: vectors of unit length that gather around the topics of the texts.

As a vector database or a search index keeps them: an identifier, the text, a category, and a vector of
384 float32, the size of the sentence embedding all-MiniLM-L6-v2
(https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2). Topics, and how near their texts are,
are chosen. ``embeddings-float16`` has the same vectors rounded to 16 bits, ``embeddings-int8`` quantized
to 8.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from data_generator.dataset import DatasetDefinition
from data_generator.splitmix import SplitMix, below
from data_generator.synthetic.uniform_columns import ENGLISH_NOUNS

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa

DIMENSIONS = 384
# Groups of similar texts, of which the first are the largest.
CLUSTERS = 240
CATEGORIES = (
    "arts business culture economy health law nature politics science sports technology travel"
).split()

# Weights of a cluster's direction and of a text's own: the cosine of two texts of a cluster is about 5²
# / (5² + 4²) = 0.61, and of others 0.
CENTRE_PART, OWN_PART = 5, 4

FEWEST_WORDS, MOST_WORDS = 5, 12
# Words that the texts of a cluster share.
VOCABULARY = 12

# Sums of four random bytes, whose mean is 510, are nearly normal, and need no logarithm.
_BYTES, _MEAN = 4, 510
_WORDS_PER_VECTOR = DIMENSIONS * _BYTES // 8

# Bytes stand for numbers up to this, five standard deviations of a number in a vector.
_LARGEST_QUANTIZED = 0.25

# Rows made at a time: their numbers take 13 MB.
_BLOCK_ROWS = 4_096


def rows_of_embeddings(start: int, stop: int, seed: int) -> pd.DataFrame:
    """Return rows from `start` to before `stop`, with the default index."""
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    # The square of a uniform number: large and small clusters, as topics have them.
    sizes = ((SplitMix(seed, 1).words(start, stop - start) >> 11) * 2.0**-53) ** 2
    clusters = (sizes * CLUSTERS).astype(np.int64)
    categories = pa.array(CATEGORIES, pa.large_string()).take(clusters % len(CATEGORIES))
    columns = {
        "id": pa.array(np.arange(start, stop, dtype=np.int64)),
        "text": _texts(clusters, start, seed),
        "category": categories,
    }
    df = pa.table(columns).to_pandas()
    values = pa.array(_vectors(clusters, start, seed).reshape(-1))
    vectors = pa.FixedSizeListArray.from_arrays(values, DIMENSIONS)
    df["embedding"] = pd.arrays.ArrowExtensionArray(vectors)
    return df


def rows_of_short_numbers(dtype: str, start: int, stop: int, seed: int) -> pd.DataFrame:
    """Return rows with vectors of "float16", or of "int8", which stand for 127ths of the largest."""
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    df = rows_of_embeddings(start, stop, seed)
    numbers = df["embedding"].array.__arrow_array__().combine_chunks().flatten().to_numpy()
    if dtype == "int8":
        numbers = np.rint(numbers * np.float32(127 / _LARGEST_QUANTIZED)).clip(-127, 127)
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(numbers.astype(dtype)), DIMENSIONS)
    df["embedding"] = pd.arrays.ArrowExtensionArray(vectors)
    return df


def _vectors(clusters: np.ndarray, start: int, seed: int) -> np.ndarray:
    """Return vectors of unit length, shape (rows, DIMENSIONS), dtype float32."""
    import numpy as np

    centres = CENTRE_PART * _directions(0, CLUSTERS, SplitMix(seed, 2))
    vectors = np.empty((len(clusters), DIMENSIONS), np.float32)
    for first in range(0, len(clusters), _BLOCK_ROWS):
        block = clusters[first : first + _BLOCK_ROWS]
        own = OWN_PART * _directions(start + first, len(block), SplitMix(seed, 3))
        # Integers up to here: sums of floats would depend on the order that a machine adds them in.
        whole = centres[block] + own
        lengths = np.sqrt((whole * whole).sum(axis=1).astype(np.float64))
        vectors[first : first + _BLOCK_ROWS] = whole / lengths[:, None]
    return vectors


def _directions(first: int, count: int, random: SplitMix) -> np.ndarray:
    """Return nearly normal integers, shape (count, DIMENSIONS), dtype int64."""
    import numpy as np

    words = random.words(first * _WORDS_PER_VECTOR, count * _WORDS_PER_VECTOR)
    pieces = words.astype("<u8").view(np.uint8).reshape(count, DIMENSIONS, _BYTES)
    return pieces.sum(axis=2, dtype=np.int64) - _MEAN


def _texts(clusters: np.ndarray, start: int, seed: int) -> pa.Array:
    """Return texts of a few words from the vocabulary of their cluster, shape (rows,)."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    rows = len(clusters)
    lengths = FEWEST_WORDS + below(
        MOST_WORDS - FEWEST_WORDS + 1, SplitMix(seed, 4).words(start, rows)
    ).astype(np.int64)
    nouns = pa.array(ENGLISH_NOUNS, pa.large_string())
    words = []
    for place in range(MOST_WORDS):
        chosen = below(VOCABULARY, SplitMix(seed, 5 + place).words(start, rows)).astype(np.int64)
        numbers = (clusters * 7 + chosen) % len(ENGLISH_NOUNS)
        words.append(nouns.take(pa.array(numbers, mask=place >= lengths)))
    space = pa.scalar(" ", pa.large_string())
    return pc.binary_join_element_wise(*words, space, null_handling="skip")


DATASETS = (
    DatasetDefinition.of_rows(
        "embeddings",
        f"texts with a category and an embedding, a vector of {DIMENSIONS} float32 of unit length",
        rows_of_embeddings,
        100_000,
        20_000,
    ),
    *(
        DatasetDefinition.of_rows(
            f"embeddings-{dtype}",
            f"the same texts with vectors of {DIMENSIONS} {dtype}",
            partial(rows_of_short_numbers, dtype),
            100_000,
            20_000,
        )
        for dtype in ("float16", "int8")
    ),
)
