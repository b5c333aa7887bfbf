"""Client that saves and reads in an object store, in a process of its own.

The process reads commands from its standard input, one JSON object a line, and answers each by a line,
an `Outcome`. Credentials are in its environment. Its arguments are the family, the label, and the data:
a data set with its size, e.g. ``core:20000``, or the absolute path of a file that the adapter has saved.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from adapter_core import ArraySource, Feature, FormatBenchError, RemoteFile, UnsupportedError
from adapter_core.credentials import without_secrets
from adapter_core.text import printable
from data_generator import catalog
from format_bench.links.client import digest_of

if TYPE_CHECKING:
    from collections.abc import Callable

TABLE, ARRAY = "tables", "arrays"

SAVE, READ, PART = "save", "read", "part"
"""Steps: saving, reading the whole, reading two columns of a table or one chunk of an array."""

EXPECTED = "expected"
"""Command for the digests that `READ` and `PART` return from a local file."""


@dataclass(frozen=True)
class Outcome:
    """Result of a step."""

    seconds: float = 0.0
    """Wall time."""
    cpu_seconds: float = 0.0
    """CPU time of all threads of the process."""
    digest: str = ""
    """Hash of types and values; of those to be read back after a save."""
    error: str = ""
    """Error, as a sentence; empty if the step succeeded."""
    is_unsupported: bool = False
    """Whether the format has no such step."""


class _Tables:
    """A table format with its table."""

    def __init__(self, label: str, source: str) -> None:
        import data_formats

        self._adapter = data_formats.get(label)
        if Path(source).is_absolute():
            self._data: Any = self._adapter.read(Path(source))
        else:
            dataset, _, rows = source.rpartition(":")
            self._data = catalog.table(dataset, int(rows)).df

    def check(self) -> None:
        self._adapter.check(self._data)

    def save(self, file: RemoteFile) -> None:
        self._adapter.without_check().save_remote(self._data, file)

    def read(self, file: RemoteFile) -> Any:
        return self._adapter.read_remote(file)

    def part(self, file: RemoteFile) -> Any:
        return self._adapter.read_remote(file, list(self._data.columns[:2]))

    def expected(self) -> list[str]:
        with TemporaryDirectory() as folder:
            path = Path(folder, f"table{self._adapter.suffix}")
            self._adapter.save(self._data, path)
            whole = self.digest(self._adapter.read(path))
            if Feature.COLUMNS not in self._adapter.supports:
                return [whole, ""]
            return [whole, self.digest(self._adapter.read(path, list(self._data.columns[:2])))]

    digest = staticmethod(digest_of)


class _Arrays:
    """An array store with its array."""

    def __init__(self, label: str, source: str) -> None:
        import array_stores

        self._adapter = array_stores.get(label)
        if not Path(source).is_absolute():
            dataset, _, chunks = source.rpartition(":")
            self._source: Any = catalog.array(dataset, int(chunks)).array
            return
        with self._adapter.open(Path(source)) as reader:
            self._source = ArraySource.of(reader.read(), reader.chunks)

    def check(self) -> None:
        self._adapter.check(self._source)

    def save(self, file: RemoteFile) -> None:
        self._adapter.without_check().save_remote(self._source, file)

    def read(self, file: RemoteFile) -> Any:
        return self._adapter.read_remote(file)

    def part(self, file: RemoteFile) -> Any:
        return self._adapter.read_remote(file, tuple(slice(0, edge) for edge in self._source.chunks))

    def expected(self) -> list[str]:
        part = tuple(slice(0, edge) for edge in self._source.chunks)
        with TemporaryDirectory() as folder:
            path = Path(folder, f"array{self._adapter.suffix}")
            self._adapter.save(self._source, path)
            with self._adapter.open(path) as reader:
                return [self.digest(reader.read(each)) for each in (None, part)]

    @staticmethod
    def digest(values: Any) -> str:
        facts = f"{values.dtype} {values.shape}".encode()
        return hashlib.sha256(facts + values.tobytes()).hexdigest()


def _done(work: _Tables | _Arrays, step: str, file: RemoteFile) -> Outcome:
    call: Callable[[RemoteFile], Any] = getattr(work, step)
    start, start_cpu = time.perf_counter(), time.process_time()
    try:
        if step == SAVE:
            work.check()
            start, start_cpu = time.perf_counter(), time.process_time()
        found = call(file)
    except FormatBenchError as error:
        seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - start_cpu
        unsupported = isinstance(error, UnsupportedError)
        return Outcome(seconds, cpu_seconds, error=str(error), is_unsupported=unsupported)
    except BaseException as error:  # a panic of Rust is no Exception
        message = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        return Outcome(error=printable(without_secrets(message)))
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - start_cpu
    return Outcome(seconds, cpu_seconds, "" if found is None else work.digest(found))


def main() -> None:
    """Answer commands until the standard input ends."""
    # Libraries may print to the standard output, which belongs to the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    family, label, source = sys.argv[1:]
    work = (_Tables if family == TABLE else _Arrays)(label, source)
    for line in sys.stdin:
        command = json.loads(line)
        if command["step"] == EXPECTED:
            answer: Any = work.expected()
        else:
            answer = asdict(_done(work, command["step"], RemoteFile(**command["file"])))
        print(json.dumps(answer), file=answers, flush=True)
    answers.flush()
    os._exit(0)  # threads of libraries may wait for servers that are gone


if __name__ == "__main__":
    main()
