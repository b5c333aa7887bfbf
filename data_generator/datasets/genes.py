"""Counts of genes in cells: tables of 1,000, 10,000 and 50,000 columns.

As in single-cell sequencing, a row is a cell with its barcode, and each gene is a column of counts, most
of which are 0: 2,238,732 are not, or 6.2 %, in the filtered table pbmc3k of 13,714 genes and 2,638 cells
(https://zdebruine.github.io/RcppML/reference/pbmc3k.html). The curve by which few genes make most of the
counts is chosen; genes are in no order of them.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from data_generator.dataset import DatasetDefinition
from data_generator.splitmix import SplitMix

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

WIDTHS = (1_000, 10_000, 50_000)
"""Numbers of columns, that of the barcodes included."""

# A gene at the share x of the genes, most expressed first, has the activity a = SLOPE / (x + OFFSET).
# Its count reaches k with the probability (a / (a + k))². The mean of (a / (a + 1))² over all x is
# SLOPE² / ((SLOPE + OFFSET) (SLOPE + OFFSET + 1)), 6.2 %.
SLOPE, OFFSET = 0.0743, 0.008

# Numbers made at a time, which take 80 MB.
_BLOCK = 10_000_000

_BASES = "ACGT"
_BARCODE = 16


def names_of(columns: int) -> list[str]:
    """Return the names of the columns: the barcode, and genes by numbers as long as Ensembl's."""
    return ["barcode", *(f"ENSG{number:011}" for number in range(1, columns))]


def rows_of_genes(columns: int, start: int, stop: int, seed: int) -> pd.DataFrame:
    """Return rows from `start` to before `stop` of a table of `columns` columns."""
    import numpy as np
    import pandas as pd

    activity = _activity(columns - 1, seed)
    counts = np.empty((stop - start, columns - 1), np.int32)
    block = max(1, _BLOCK // columns)
    for first in range(start, stop, block):
        last = min(stop, first + block)
        words = SplitMix(seed, 2).words(first * (columns - 1), (last - first) * (columns - 1))
        # From 2**-53 on: 0 would be an infinite count. Square roots are exact on every machine.
        share = ((words >> 11) + np.uint64(1)) * 2.0**-53
        found = activity * (1 / np.sqrt(share).reshape(-1, columns - 1) - 1)
        counts[first - start : last - start] = np.minimum(found, 10_000)
    df = pd.DataFrame(counts, columns=names_of(columns)[1:])
    df.insert(0, "barcode", _barcodes(start, stop, seed))
    return df


def _activity(genes: int, seed: int) -> np.ndarray:
    """Return the activity of each gene, shape (genes,), in random order."""
    import numpy as np

    place = np.argsort(SplitMix(seed, 1).words(0, genes), kind="stable")
    return SLOPE / ((place + 0.5) / genes + OFFSET)


def _barcodes(start: int, stop: int, seed: int) -> pd.Series:
    """Return texts of 16 bases, as the barcodes of cells."""
    import numpy as np
    import pandas as pd

    words = SplitMix(seed, 3).words(start, stop - start)
    digits = (words[:, None] >> np.arange(0, 2 * _BARCODE, 2, dtype=np.uint64)) & np.uint64(3)
    letters = np.frombuffer(_BASES.encode(), np.uint8)[digits.astype(np.intp)]
    text = letters.tobytes().decode("ascii")
    texts = [text[at : at + _BARCODE] for at in range(0, len(text), _BARCODE)]
    return pd.Series(texts, dtype="str")


DATASETS = tuple(
    DatasetDefinition.of_rows(
        f"genes-{columns}",
        f"{columns:,} columns: counts of genes in cells, most of them 0, with the cells' barcodes",
        partial(rows_of_genes, columns),
        1_000,
        200,
    )
    for columns in WIDTHS
)
