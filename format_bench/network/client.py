"""Client that saves and reads at a server, in a process of its own.

Credentials are in its environment. Its arguments are the family, the label, the data (a data set with
its size, e.g. ``core:20000``, or the absolute path of a file that the adapter has saved), and names of
columns. The process answers the commands of `Client`, and ends with its standard input.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from adapter_core import ArraySource, Feature, FormatBenchError, RemoteFile
from adapter_core.credentials import without_secrets
from adapter_core.text import printable, shortened
from data_generator import catalog
from format_bench.network.processes import CommandedProcess, answer_commands
from format_bench.results.status import CellStatus, Reason, status_of

if TYPE_CHECKING:
    import pandas as pd

TABLE, ARRAY = "tables", "arrays"

SAVE, READ, PART = "save", "read", "part"
"""Steps: saving, reading the whole, reading some columns of a table or one chunk of an array."""

_EXPECTED = "expected"

# Time for loading the data, and for saving and reading the local file. It only ends a client that
# hangs; its length is chosen, not measured.
_EXPECTED_SECONDS = 600.0


@dataclass(frozen=True)
class Outcome:
    """Result of a step."""

    seconds: float = 0.0
    """Wall time."""
    cpu_seconds: float = 0.0
    """CPU time of all threads of the process."""
    digest: str = ""
    """Hash of types and values, see `digest_of`; empty after a save."""
    error: str = ""
    """Error, as a sentence; empty if the step succeeded."""
    status: CellStatus = CellStatus.FAILED
    """Status that the error gives a cell."""

    @property
    def reason(self) -> Reason:
        """The error with its status; empty if the step succeeded."""
        return Reason(self.error, CellStatus(self.status))


class Client(CommandedProcess):
    """A client in a process of its own, which ends with the block.

    Parameters
    ----------
    family, label : str
        The adapter.
    source : str
        The data: a data set and its size, e.g. ``core:20000``, or the absolute path of a file of
        the adapter.
    columns : sequence of str
        Columns that `PART` reads; by default the first two.
    environment : mapping of str to str, optional
        Variables with the credentials, beside `client_environment`.
    prefix : sequence of str
        Command that starts it in a namespace; empty for none.
    """

    def __init__(  # noqa: PLR0913 (data and process)
        self,
        family: str,
        label: str,
        source: str,
        *,
        columns: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        prefix: Sequence[str] = (),
    ) -> None:
        arguments = family, label, source, *columns
        super().__init__(__name__, *arguments, prefix=prefix, environment=environment)

    def run(self, step: str, file: RemoteFile, limit_seconds: float = 120.0) -> Outcome:
        """Do a step and return its outcome.

        Raises
        ------
        LinkError
            If the process ended, or has not answered within the limit.
        """
        return Outcome(**self.ask(limit_seconds, step=step, file=asdict(file)))

    def expected(self) -> dict[str, str]:
        """Return the digests of the whole and of a part, read from a local file."""
        found: dict[str, str] = self.ask(_EXPECTED_SECONDS, step=_EXPECTED)
        return found

    def start(self, step: str, file: RemoteFile) -> None:
        """Start a step, whose outcome nobody waits for."""
        self.send(step=step, file=asdict(file))


class _Tables:
    """A table format with its table."""

    def __init__(self, label: str, source: str, columns: Sequence[str]) -> None:
        import data_formats

        self.adapter = data_formats.get(label)
        self._source, self._columns = source, columns

    @functools.cached_property
    def data(self) -> pd.DataFrame:
        if Path(self._source).is_absolute():
            return self.adapter.read(Path(self._source))
        dataset, _, rows = self._source.rpartition(":")
        return catalog.table(dataset, int(rows)).df

    @functools.cached_property
    def part(self) -> list[str]:
        return list(self._columns or self.data.columns[:2])

    def local(self, path: Path) -> dict[str, str]:
        found = {READ: digest_of(self.adapter.read(path))}
        if Feature.COLUMNS in self.adapter.supports:
            found[PART] = digest_of(self.adapter.read(path, self.part))
        return found

    def digest(self, values: pd.DataFrame) -> str:
        return digest_of(values)


class _Arrays:
    """An array store with its array."""

    def __init__(self, label: str, source: str, _: Sequence[str]) -> None:
        import array_stores

        self.adapter, self._source = array_stores.get(label), source

    @functools.cached_property
    def data(self) -> Any:
        if not Path(self._source).is_absolute():
            dataset, _, chunks = self._source.rpartition(":")
            return catalog.array(dataset, int(chunks)).array
        with self.adapter.open(Path(self._source)) as reader:
            return ArraySource.of(reader.read(), reader.chunks)

    @functools.cached_property
    def part(self) -> tuple[slice, ...]:
        return tuple(slice(0, edge) for edge in self.data.chunks)

    def local(self, path: Path) -> dict[str, str]:
        with self.adapter.open(path) as reader:
            return {READ: self.digest(reader.read()), PART: self.digest(reader.read(self.part))}

    def digest(self, values: Any) -> str:
        facts = f"{values.dtype} {values.shape}".encode()
        return hashlib.sha256(facts + values.tobytes()).hexdigest()


class _Work:
    """The steps of an adapter with its data."""

    def __init__(self, family: str, label: str, source: str, *columns: str) -> None:
        self._data = (_Tables if family == TABLE else _Arrays)(label, source, columns)
        self._source = Path(source)

    def answer(self, command: dict[str, Any]) -> Any:
        """Return the answer to a command."""
        if command["step"] == _EXPECTED:
            return self._expected()
        return asdict(self._done(command["step"], RemoteFile(**command["file"])))

    def _expected(self) -> dict[str, str]:
        if self._source.is_absolute():
            return self._data.local(self._source)
        adapter = self._data.adapter
        with TemporaryDirectory() as folder:
            path = Path(folder, f"data{adapter.suffix}")
            adapter.save(self._data.data, path)
            return self._data.local(path)

    def _done(self, step: str, file: RemoteFile) -> Outcome:
        adapter: Any = self._data.adapter
        start, start_cpu = time.perf_counter(), time.process_time()
        try:
            # Whatever is not the step itself comes before the clock.
            arguments: tuple[Any, ...]
            if step == SAVE:
                adapter.check(self._data.data)
                call, arguments = adapter.without_check().save_remote, (self._data.data, file)
            else:
                call, arguments = adapter.read_remote, (file, self._data.part if step == PART else None)
            start, start_cpu = time.perf_counter(), time.process_time()
            found = call(*arguments)
        except FormatBenchError as error:
            seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - start_cpu
            return Outcome(seconds, cpu_seconds, error=str(error), status=status_of(error))
        except BaseException as error:  # a panic of Rust is no Exception
            message = shortened(f"{type(error).__name__}: {error}")
            return Outcome(error=printable(without_secrets(message)))
        seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - start_cpu
        return Outcome(seconds, cpu_seconds, "" if found is None else self._data.digest(found))


def digest_of(df: pd.DataFrame) -> str:
    """Return a hash of names, types and values of a table; equal for equal tables."""
    import pandas as pd

    hashed = pd.util.hash_pandas_object(df, index=False).to_numpy()
    facts = repr([(name, str(dtype)) for name, dtype in df.dtypes.items()])
    return hashlib.sha256(facts.encode() + hashed.tobytes()).hexdigest()


if __name__ == "__main__":
    answer_commands(_Work(*sys.argv[1:]).answer)
    os._exit(0)  # threads of libraries may wait for servers that are gone
