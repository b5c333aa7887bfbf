"""Client that reads tables from servers in a process of its own.

The process reads commands from its standard input, one JSON object a line, and answers each by a line,
an `Answer`. Reads have a limit of time, after which the caller kills the process.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import data_formats
from adapter_core import FormatBenchError, RemoteFile

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Answer:
    """Result of a read: times, and facts that prove it right."""

    seconds: float = 0.0
    """Wall time."""
    cpu_seconds: float = 0.0
    """CPU time of all threads of the process."""
    rows: int = 0
    digest: str = ""
    """Hash of types and values, see `digest_of`."""
    error: str = ""
    """Error, as a sentence; empty if the read succeeded."""


def _read(command: dict[str, Any]) -> Answer:
    adapter = data_formats.find(command["format"])
    file, columns = RemoteFile(**command["file"]), command["columns"]
    start, start_cpu = time.perf_counter(), time.process_time()
    try:
        df = adapter.read_remote(file, columns)
    except FormatBenchError as error:
        return Answer(error=str(error))
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - start_cpu
    return Answer(seconds, cpu_seconds, len(df), digest_of(df))


def digest_of(df: pd.DataFrame) -> str:
    """Return a hash of names, types and values of a table; equal for equal tables."""
    import pandas as pd

    hashed = pd.util.hash_pandas_object(df, index=False).to_numpy()
    facts = repr([(name, str(dtype)) for name, dtype in df.dtypes.items()])
    return hashlib.sha256(facts.encode() + hashed.tobytes()).hexdigest()


def main() -> None:
    """Answer commands until the standard input ends."""
    # Libraries may print to the standard output, which belongs to the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    for line in sys.stdin:
        print(json.dumps(asdict(_read(json.loads(line)))), file=answers, flush=True)
    answers.flush()
    os._exit(0)  # threads of libraries may wait for servers that are gone


if __name__ == "__main__":
    main()
