"""Lines of the log of a distributed file store: a time, a level, a source, and a text with structure.

As in the log HDFS_v1 of Loghub, of 11,175,629 lines about 575,061 blocks in 1.47 GiB
(https://github.com/logpai/loghub), a block has 19 lines, and a line some 130 bytes, where it has 141.
That a block's lines are near each other, few templates make most lines, and 3 % are warnings is chosen,
and the templates are made up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from data_generator.dataset import DatasetDefinition
from data_generator.splitmix import SplitMix, below

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

LINES_OF_A_BLOCK = 19
# Blocks whose lines are mixed with each other.
_TOGETHER = 10

# Midnight of 2024-07-01 and the time between two lines, in milliseconds.
_FIRST, _STEP = 1_719_792_000_000, 12

NODES = 203

# Lines of 1,000 with each level, source and text.
TEMPLATES = (
    (210, "INFO", "store.node.Receiver", "Accepting blk_{block} from /{one}:{port} into /{other}:50010"),
    (205, "INFO", "store.master.Catalog", "registered blk_{block} on {one}:50010, {size} bytes in all"),
    (200, "INFO", "store.node.Responder", "pipeline {few} of blk_{block} has ended, {size} bytes sent"),
    (150, "INFO", "store.node.Receiver", "Wrote blk_{block} of {size} bytes, which came from /{one}"),
    (100, "INFO", "store.node.Volume", "removing blk_{block} at /mnt/data{few}/current/blk_{block}"),
    (60, "INFO", "store.node.Server", "{one}:50010 delivered blk_{block} to /{other} in {few}{few} ms"),
    (40, "INFO", "store.master.Catalog", "allocate /user/job_{job}/part-{part:05d}. blk_{block}"),
    (22, "WARN", "store.node.Server", "{one}:50010: lost reader /{other} of blk_{block}, Broken pipe"),
    (8, "WARN", "store.master.Pending", "blk_{block} has too few copies: {few} of 10, asking {one}"),
    (3, "INFO", "store.node.Scanner", "verified blk_{block}: {size} bytes, checksum {job:08x}"),
    (1, "WARN", "store.node.Receiver", "Exception in Accepting blk_{block}: Reset by /{one}:{port}"),
    (1, "ERROR", "store.node.Volume", "No space left for blk_{block} of {size} bytes in /mnt/data{few}"),
)


def rows_of_logs(start: int, stop: int, seed: int) -> pd.DataFrame:
    """Return rows from `start` to before `stop`, with the default index."""
    import numpy as np
    import pandas as pd

    count = stop - start
    number = np.arange(start, stop, dtype=np.int64)

    def draw(limit: int, stream: int) -> np.ndarray:
        return below(limit, SplitMix(seed, stream).words(start, count)).astype(np.int64)

    shares = np.cumsum([each[0] for each in TEMPLATES])
    chosen = np.searchsorted(shares, draw(1_000, 1), side="right").tolist()
    block = (number // (LINES_OF_A_BLOCK * _TOGETHER) * _TOGETHER + draw(_TOGETHER, 2)).tolist()
    # Names of blocks are random numbers of 63 bits, each by its own place in a stream.
    first, last = min(block, default=0), max(block, default=0)
    names = (SplitMix(seed, 3).words(first, last - first + 1) >> 1).tolist()
    one, other = (_addresses(draw(NODES, stream)) for stream in (4, 5))
    numbers = (draw(limit, stream).tolist() for limit, stream in _NUMBERS.values())
    drawn = zip(*numbers, strict=True)
    messages = [
        TEMPLATES[template][3].format(
            block=names[of - first], one=a, other=b, **dict(zip(_NUMBERS, values, strict=True))
        )
        for template, of, a, b, values in zip(chosen, block, one, other, drawn, strict=True)
    ]
    columns = {
        "time": (_FIRST + number * _STEP + draw(_STEP, 6)).astype("datetime64[ms]"),
        "node": one,
        "thread": draw(4_000, 7).astype(np.int32),
        "level": [TEMPLATES[each][1] for each in chosen],
        "source": [TEMPLATES[each][2] for each in chosen],
        "message": messages,
    }
    texts = dict.fromkeys(("node", "level", "source", "message"), "str")
    return pd.DataFrame(columns).astype(texts)


# Limits and streams of the numbers in texts.
_NUMBERS = {
    "port": (28_000, 8),
    "size": (67_108_865, 9),
    "few": (10, 10),
    "job": (2**31, 11),
    "part": (2_000, 12),
}


def _addresses(nodes: np.ndarray) -> list[str]:
    return [f"10.250.{each % 20}.{each % 254 + 1}" for each in nodes.tolist()]


DATASETS = (
    DatasetDefinition.of_rows(
        "log-lines",
        "lines of a log: time, node, thread, level, source, message",
        rows_of_logs,
        1_000_000,
    ),
)
