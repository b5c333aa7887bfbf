"""Time series of many keys: ten measures of each of 1,000 hosts every ten seconds.

The form of the data set `cpu-only` of the Time Series Benchmark Suite (https://github.com/timescale/tsbs):
measures from 0 to 100, each a random walk of normal steps of 1 from a uniform start, and tags of the
host. At the ends its walks stay, where these turn around, and it cuts off the fractions. Rows are in
order of time, as they arrive, so that neighbouring rows are of different hosts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from data_generator.dataset import Dataset, DatasetDefinition
from data_generator.splitmix import SplitMix, below

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

HOSTS = 1_000
MEASURES = "user system idle nice iowait irq softirq steal guest guest_nice".split()
_REGIONS = "ap-1 ap-2 eu-1 eu-2 sa-1 us-1 us-2 us-3 us-4".split()
_SERVICES = 20

# Midnight of 2024-07-01 and the time between two measurements, in milliseconds.
_FIRST, _STEP = 1_719_792_000_000, 10_000

# Values are whole hundredths until the end: sums of floats would depend on their order.
_TOP = 10_000
# Sums of four random bytes are nearly normal: a mean of 510, and a standard deviation of 147.8.
_BYTES, _MEAN, _DEVIATION = 4, 510, 148


def _make(rows: int, seed: int) -> Dataset:
    import numpy as np
    import pandas as pd

    ticks = -(-rows // HOSTS)
    host = np.arange(rows, dtype=np.int64) % HOSTS
    region = below(len(_REGIONS), SplitMix(seed, 1).words(0, HOSTS)).astype(np.intp)
    service = below(_SERVICES, SplitMix(seed, 2).words(0, HOSTS)).astype(np.int64)
    tags = {
        "host": [f"host_{each}" for each in range(HOSTS)],
        "region": [_REGIONS[each] for each in region],
        "service": [f"service_{each}" for each in service],
    }
    time = np.repeat(_FIRST + np.arange(ticks) * _STEP, HOSTS)[:rows]
    columns: dict[str, pd.Series | np.ndarray] = {"time": time.astype("datetime64[ms]")}
    for name, texts in tags.items():
        columns[name] = pd.Series(texts, dtype="str").take(host).reset_index(drop=True)
    for stream, name in enumerate(MEASURES, start=3):
        columns[f"usage_{name}"] = _walks(ticks, SplitMix(seed, stream)).reshape(-1)[:rows]
    return Dataset("series", pd.DataFrame(columns))


def _walks(ticks: int, random: SplitMix) -> np.ndarray:
    """Return random walks from 0 to 100 that turn around at both ends, shape (ticks, HOSTS)."""
    import numpy as np

    pieces = random.words(0, -(-(ticks + 1) * HOSTS * _BYTES // 8)).astype("<u8").view(np.uint8)
    steps = pieces[: (ticks + 1) * HOSTS * _BYTES].reshape(ticks + 1, HOSTS, _BYTES)
    walk = (steps.sum(axis=2, dtype=np.int64) - _MEAN) * 100 // _DEVIATION
    walk[0] = walk[0] * 12 + _TOP // 2  # first values are all over the range
    folded = np.cumsum(walk, axis=0)[:ticks] % (2 * _TOP)
    found: np.ndarray = np.minimum(folded, 2 * _TOP - folded) / 100
    return found


DATASETS = (
    DatasetDefinition(
        name="series",
        family="tables",
        description="ten measures of each of 1,000 hosts, in order of time, as of TSBS",
        make=_make,
        default_count=1_000_000,
    ),
)
