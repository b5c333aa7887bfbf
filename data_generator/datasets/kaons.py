"""Decays of a B meson to three kaons, as a flat table and with a list of kaons in each row.

``kaons`` has the names, order and types of the columns of LHCb's open data (B2HHH, recorded in 2011,
https://opendata.cern.ch/record/4900), by default as many rows, and its share of rows with a muon among
the three tracks: 28 %. J. Blomer (A quantitative review of data formats for HEP analyses, ACAT 2017)
compared file formats with these data. ``kaons-deep`` has the same values.

`data_generator.synthetic.kaon_candidates` describes the values. Bytes a row in a TTree of ROOT 6.40,
500,000 rows, next to the published ones (github.com/jblomer/iotools, chep19/result_size_lhcb.txt):

=========  =====  =====  ======  ======  ======
codec      none   LZ4 4  zlib 1  zstd 5  LZMA 7
=========  =====  =====  ======  ======  ======
ours       184.5  137.9  126.7   122.7   119.3
published  184.0  138.1  129.9   124.3   118.5
=========  =====  =====  ======  ======  ======
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from data_generator.dataset import DatasetDefinition
from data_generator.synthetic import kaon_candidates
from data_generator.synthetic.kaon_candidates import (
    BLOCK_ROWS,
    CANDIDATE_FLOATS,
    TRACK_FLOATS,
    TRACK_INTEGERS,
    TRACKS,
    Candidates,
)

if TYPE_CHECKING:
    import pandas as pd


EVENTS = 8_556_118

KAON_FIELDS = ("PX", "PY", "PZ", "ProbK", "ProbPi", "Charge", "isMuon", "IPChi2")


def _of_tracks(fields: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"H{track}_{field}" for track in range(1, TRACKS + 1) for field in fields)


FLOATS = CANDIDATE_FLOATS + _of_tracks(TRACK_FLOATS)
INTEGERS = _of_tracks(TRACK_INTEGERS)
COLUMNS = CANDIDATE_FLOATS + _of_tracks(KAON_FIELDS)


def flat_rows(start: int, stop: int, seed: int) -> pd.DataFrame:
    """Return rows of ``kaons``, from `start` to before `stop`, with the default index."""
    import numpy as np
    import pandas as pd

    floats = np.empty((len(FLOATS), stop - start))
    integers = np.empty((len(INTEGERS), stop - start), np.int32)
    row = start
    while row < stop:
        number, skipped = divmod(row, BLOCK_ROWS)
        end = min(stop, (number + 1) * BLOCK_ROWS)
        made, part = _block(number, seed), slice(skipped, skipped + end - row)
        floats[:, row - start : end - start] = made.floats[:, part]
        integers[:, row - start : end - start] = made.integers[:, part]
        row = end
    columns = dict(zip(FLOATS + INTEGERS, (*floats, *integers), strict=True))
    return pd.DataFrame({name: columns[name] for name in COLUMNS}, copy=False)


@lru_cache(maxsize=1)  # for calls that take a few rows each
def _block(number: int, seed: int) -> Candidates:
    return kaon_candidates.block(number, seed)


def deep_rows(start: int, stop: int, seed: int) -> pd.DataFrame:
    """Return rows of ``kaons-deep``, from `start` to before `stop`, with the default index.

    The column ``kaons`` contains lists of three records with the fields `KAON_FIELDS`, of Arrow's type
    list<struct>.
    """
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    flat = flat_rows(start, stop, seed)
    fields = [
        pa.array(np.stack([flat[name] for name in _of_tracks((field,))], axis=1).reshape(-1))
        for field in KAON_FIELDS
    ]
    ends = pa.array(np.arange(0, TRACKS * len(flat) + 1, TRACKS, dtype=np.int32))
    lists = pa.ListArray.from_arrays(ends, pa.StructArray.from_arrays(fields, KAON_FIELDS))
    return flat[list(CANDIDATE_FLOATS)].assign(kaons=pd.arrays.ArrowExtensionArray(lists))


DATASETS = (
    DatasetDefinition.of_rows(
        "kaons", "26 columns about decays of B mesons to three kaons, after LHCb", flat_rows, EVENTS
    ),
    DatasetDefinition.of_rows(
        "kaons-deep", "the rows of kaons with a list of three kaons in each", deep_rows, EVENTS
    ),
)
