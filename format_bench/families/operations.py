"""Operations of a family: generate, store, load, check, save, read, verify, measure a file.

Each family's package has a module `operations` with a subclass, named by its constant `OPERATIONS`.
The runner and the asv suites call the same operations.
"""

from __future__ import annotations

import contextlib
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Self, cast

from adapter_core import BaseAdapter, CannotHoldError, Registry
from adapter_core.codec_choice import CodecChoice
from adapter_core.error_bounds import ErrorBound
from adapter_core.errors import WrongValuesError
from data_generator import datasets
from format_bench.families.questions import Questions, declared
from format_bench.instruments import page_cache
from format_bench.instruments.clock import Effort, Sample, Stopwatch, open_seconds
from format_bench.instruments.threads import Threads
from format_bench.results.status import WRONG, CellStatus
from format_bench.results.suites import FAMILIES, Family, Step
from format_bench.verification import Diff


@dataclass(frozen=True)
class Measured:
    """Samples of one metric."""

    metric: str
    repeats: Sequence[float]
    """In the order taken and in the metric's unit; the value is their median."""
    sentence: str = ""
    """Optional remark, or the reason why samples are missing."""
    query: str = ""
    """The query that they are of; empty if of none."""
    status: CellStatus = CellStatus.VALUE
    """Another one if there are no samples."""
    cpu: Sequence[float] = ()
    """CPU seconds of each sample, if it is a time; possibly none."""
    loop: Sequence[float] = ()
    """CPU seconds of the clock's reference loop beside each of them."""


class Operations(ABC):
    """An adapter, its libraries imported, and the operations on data of its family.

    Parameters
    ----------
    adapter : BaseAdapter
        An adapter that is available.
    codec, level
        The codec to save with, and its level; None for none.
    track : str
        Name of the track on which files are written; else empty.
    """

    family: ClassVar[str]
    """Name of the family."""
    has_workers: ClassVar[bool] = False
    """Whether its own steps are measured with `workers`."""
    has_error_bounds: ClassVar[bool] = False
    """Whether its saves can keep an error bound, by `keep_within`."""
    made_of: ClassVar[frozenset[str]] = frozenset()
    """Families of a user's data that `store_made_of` makes data of its own of."""
    measures_at_servers: ClassVar[bool] = False
    """Whether its own steps are measured at the server that `link` and `bucket` name."""

    def __init__(
        self,
        adapter: BaseAdapter,
        codec: str | None = None,
        level: int | None = None,
        track: str = "",
    ) -> None:
        self.adapter: Any = adapter
        self.unchecked: Any = adapter.without_check()
        """The adapter for `save`: its check comes before the clock, by `check`."""
        self.codec, self.level = codec, level
        self.track = track
        self.questions = declared(self.family).to()
        """Questions to ask a saved file, by default the family's to most data sets."""
        self.subject = "", 0
        """Name and size of the data set, for steps that make it again elsewhere."""
        self.data_file = Path()
        """The data, as `store` has stored them, for steps that other processes measure."""
        self.steps: tuple[str, ...] = ()
        """Names of the suite's steps."""
        self.link = ""
        """Round trip and bandwidth for steps that reach a server; empty for the metrics' own."""
        self.bucket = ""
        """Address of a user's bucket for steps that reach a server; empty for a server here."""
        self.cache_share = 0.0
        """Limit of local copies of a server's files, as a share of them; 0 for none."""
        self.workers = 1
        """Processes that load ahead, for steps of training loaders."""
        self.tuned: tuple[list[str], list[str]] | None = None
        """Sort key and lookup columns of files that are tuned for queries; None for others."""
        self.threads: Threads | None = None
        """Thread policy that the process is under; None if none was applied."""

    @classmethod
    def on(  # noqa: PLR0913 (an adapter as it is measured, and the data)
        cls,
        data: Path,
        adapter: BaseAdapter,
        codec: str | None = None,
        level: int | None = None,
        track: str = "",
        *,
        subject: tuple[str, int] = ("", 0),
        questions: Questions | None = None,
        is_warm: bool = True,
    ) -> Self:
        """Return the operations of an adapter on stored data, warmed up unless `is_warm` is false.

        For the others see the attributes.
        """
        found = cls(adapter, codec, level, track)
        found.subject, found.data_file = subject, data
        found.questions = found.questions if questions is None else questions
        found.expect(data)
        if is_warm:
            found.warm_up()
        return found

    @staticmethod
    @abstractmethod
    def datasets() -> list[str]:
        """Return the names of the data sets that `generate` knows."""

    @staticmethod
    @abstractmethod
    def describe(dataset: str) -> str:
        """Return one line on a data set."""

    @staticmethod
    def run_size(dataset: str, usual: int) -> int:  # noqa: ARG004 (a family may have small data sets)
        """Return the rows, or images, of a data set that the runner takes if no number is given."""
        return usual

    @staticmethod
    def tuning_keys(dataset: str) -> tuple[list[str], list[str]]:  # noqa: ARG004 (few have any)
        """Return the sort key and the lookup columns of tuned files of a data set; empty if of none."""
        return [], []

    @staticmethod
    @abstractmethod
    def generate(dataset: str, size: int | None) -> Any:
        """Return a data set of a number of rows, or images; of all that it has if `size` is None.

        Raises
        ------
        UnknownNameError, UnavailableError, TooFewRowsError
            If there is none of that name, a package is missing, or a real one is smaller.
        """

    @staticmethod
    @abstractmethod
    def store(data: Any, path: Path) -> tuple[int, int]:
        """Store generated data for `load`; return the number of rows and of columns, or their like."""

    @staticmethod
    @abstractmethod
    def load(path: Path) -> Any:
        """Return the data that `store` has stored."""

    @staticmethod
    @abstractmethod
    def take(data: Any, positions: Sequence[int]) -> Any:
        """Return the rows, or images, of data at some positions, e.g. a sample of them."""

    @staticmethod
    def raw_bytes(data: Any) -> int | None:  # noqa: ARG004 (a family may know it)
        """Return the size of data in memory, if saving asks for free disk space beforehand."""
        return None

    @staticmethod
    def asking(data: Any, questions: Questions) -> Any:  # noqa: ARG004 (few keep them with the data)
        """Return generated data to ask other questions than the family's."""
        return data

    @staticmethod
    def ask_own(name: str, stored: Path, questions: Questions, place: Path) -> None:
        """Store a user's data for `load`, to ask questions of his own.

        Parameters
        ----------
        name : str
            The data set.
        stored : Path
            The data, as the operations of the family `Family.asks` have stored them.
        questions : Questions
            The questions.
        place : Path
            Where they shall be.

        Raises
        ------
        InvalidQuestionsError
            If a question does not fit the data.
        """
        raise AssertionError(f"{name} at {stored} is asked no {questions.file}; {place} stays empty")

    @staticmethod
    def store_made_of(family: str, stored: Path, place: Path) -> tuple[int, int]:
        """Store data for `load` that are made of a user's data of another family.

        Parameters
        ----------
        family : str
            One of `made_of`.
        stored : Path
            The data, as the operations of that family have stored them.
        place : Path
            Where they shall be.

        Returns
        -------
        rows, columns : int
            As `store` returns them.

        Raises
        ------
        UserDataError
            If nothing can be made of them.
        """
        raise AssertionError(f"nothing is made of {family} at {stored}; {place} stays empty")

    @staticmethod
    def check_asked(data: Any, questions: Questions) -> None:
        """Raise `InvalidQuestionsError` if a question does not fit generated data."""
        raise AssertionError(f"{data} is asked no {questions.file}")

    def expect(self, data: Path) -> None:  # noqa: B027 (few families need any)
        """Note facts of stored data that reads depend on, without loading the data."""

    @abstractmethod
    def warm_up(self) -> None:
        """Save and read something tiny, so that no measured call imports a library."""

    def keep_within(self, bound: ErrorBound) -> None:
        """Save floats within an error bound from now on, and compare them with it.

        Raises
        ------
        UnsupportedError
            If the data have no floats, or nothing that the bound is a share of.
        """
        raise AssertionError(f"{type(self).__name__} keeps no {bound}")

    def check(self, data: Any) -> None:
        """Raise `CannotHoldError` if the adapter cannot keep the data."""
        self.adapter.check(data)

    @abstractmethod
    def save(self, data: Any, file: Path) -> None:
        """Save data that `check` has accepted; the call that is measured."""

    def read(self, file: Path) -> Any:
        """Read everything into memory; the call that is measured."""
        return self.adapter.read(file)

    @abstractmethod
    def compare(self, data: Any, found: Any) -> Diff:
        """Compare the data read with the data saved."""

    def verify(self, data: Any, found: Any) -> Measured:
        """Return the family's metric of loss, with the losses in words.

        Raises
        ------
        WrongValuesError
            If anything came back with another value.
        """
        diff = self.compare(data, found)
        if diff.errors:
            raise WrongValuesError(WRONG + "; ".join(diff.errors))
        return Measured(FAMILIES[self.family].loss, [diff.lost], "; ".join(diff.losses))

    def measure(self, step: Step, file: Path, effort: Effort) -> list[Measured] | None:  # noqa: ARG002
        """Measure a step whose calls another process makes and times; None if this one has to.

        Parameters
        ----------
        step : Step
            A step of the family's declaration.
        file : Path
            The file to save to or to read.
        effort : Effort
            Limits of the repeats.
        """
        return None

    def metric(
        self,
        metric: str,
        file: Path,
        *,
        cache: str | None = None,  # noqa: ARG002 (a family's own metrics may depend on it)
        budget_seconds: float = 0.0,
    ) -> Measured:
        """Measure another metric of a saved file: size, files, opening, or one of the family's own.

        Parameters
        ----------
        metric : str
            Its name.
        file : Path
            The saved file.
        cache : str, optional
            State of the page cache that the measurement starts from, "warm" or "cold".
        budget_seconds : float
            Wall time for repeats.

        Raises
        ------
        NotColdError
            If the file cannot be evicted from the page cache.
        """
        if metric == "size":
            return Measured(metric, [self.adapter.size_bytes(file)], self._codec_remark(file))
        if metric == "files":
            return Measured(metric, [len(list(page_cache.files_of(file)))])
        if metric == "open time":
            return Measured(metric, open_seconds(lambda: self.adapter.open(file), budget_seconds))
        raise AssertionError(f"{type(self).__name__} cannot measure {metric}")

    def _codec_remark(self, file: Path) -> str:
        """Return a sentence if the file does not use the codec that was asked for."""
        if self.tuned or not isinstance(self.adapter, CodecChoice) or not self.adapter.codecs:
            return ""
        used = self.adapter.codec_used(file)
        if used == self.codec:
            return ""
        asked = f"{self.adapter.label} was told to use {self.codec or 'none'}"
        return f"{asked}; its file shows {used or 'none'}"

    def sample(
        self,
        metric: str,
        file: Path,
        *,
        cache: str | None,
        turn: int,  # noqa: ARG002 (a family may vary its calls)
        budget_seconds: float,
    ) -> Sequence[float]:
        """Take the samples of one turn of a metric of the family's own that depends on the page cache.

        By default all that `metric` takes. Warm and cold turns alternate in one process, so a
        family should take one sample only.

        Parameters
        ----------
        metric : str
            Its name.
        file : Path
            The saved file, in the page cache, or not if `cache` is "cold".
        cache : str, optional
            State of the page cache, "warm" or "cold".
        turn : int
            Number of the turn, from 0. Calls of one turn should do the same work, whatever the cache.
        budget_seconds : float
            Wall time of the sample.
        """
        return self.metric(metric, file, cache=cache, budget_seconds=budget_seconds).repeats

    def check_query(self, query: str) -> None:
        """Raise `UnsupportedError` if a query does not apply to the expected data, or the adapter."""
        raise AssertionError(f"{type(self).__name__} has no query {query}")

    def open_query(self, query: str, file: Path) -> OpenQuery:
        """Open a saved file for a query that applies."""
        raise AssertionError(f"{type(self).__name__} has no query {query} to {file}")

    def answer_cold(self, query: str, file: Path, limit_seconds: float) -> ColdRead | None:  # noqa: ARG002
        """Answer a query in a fresh process, from a file out of the page cache.

        None leaves it to this process, for libraries that keep nothing of a closed file in memory.

        Parameters
        ----------
        query, file
            As `open_query` takes them.
        limit_seconds : float
            Time after which the process is ended.

        Raises
        ------
        ColdProcessError
            If there is no answer.
        """
        return None


@dataclass(frozen=True)
class ColdRead:
    """Cost of opening a file that is out of the page cache, and of an answer from it."""

    sample: Sample
    fetched_bytes: int
    """Bytes that the storage layer fetched, read-ahead included."""
    requests: int
    """Calls of read(2) and the like."""

    @classmethod
    def measured(
        cls, opening: Callable[[], OpenQuery], file: Path, *, keep_open: bool = False
    ) -> ColdRead:
        """Evict a file, then open and read it; if `keep_open`, with opening outside the clock.

        Raises
        ------
        NotColdError
            If the file stays in the page cache.
        """
        page_cache.make_cold(file)
        stopwatch = Stopwatch()
        before = page_cache.read_counters()
        opened = opening() if keep_open else None
        with stopwatch:
            # In the clock, since with its read-ahead it may fetch all that the query needs.
            opened = opened or opening()
            try:
                answer = opened.read()
            except BaseException:
                opened.close()
                raise
        read = page_cache.read_counters() - before
        # Freed while the file is open: it may be a part of it.
        del answer
        opened.close()
        return cls(stopwatch.last, read.fetched_bytes, read.calls)


class OpenQuery(ABC):
    """A query to an open file."""

    missed_share: float = 0.0
    """Share of the right rows that an answer of an index lacks; known after `verify`."""

    @abstractmethod
    def read(self) -> Any:
        """Return the answer; the call that is measured."""

    def write(self, answer: Any, path: Path) -> None:
        """Write an answer in the adapter's own format; the call that is measured, if the step has it."""
        raise AssertionError(f"{type(self).__name__} cannot write {type(answer).__name__} to {path}")

    @abstractmethod
    def verify(self, answer: Any, data: Any) -> str:
        """Compare an answer with the data themselves, and return a remark.

        Raises
        ------
        WrongValuesError
            If they differ.
        """

    @abstractmethod
    def close(self) -> None:
        """Close the file."""


class CatalogOperations(Operations):
    """Operations on the data sets of `data_generator.datasets`."""

    @staticmethod
    def describe(dataset: str) -> str:
        """Return one line on a data set."""
        return datasets.find(dataset).description

    @staticmethod
    def run_size(dataset: str, usual: int) -> int:
        """Return `usual`, or fewer for a data set of large or few items."""
        return datasets.find(dataset).count_for_run(usual)


@contextlib.contextmanager
def warm_up_file(suffix: str) -> Iterator[Path]:
    """Provide a path for something tiny; end the block where the adapter cannot keep that."""
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(CannotHoldError):
        yield Path(folder, f"warm{suffix}")


def operations_of(family: Family) -> type[Operations]:
    """Return the class of operations of a family."""
    module = import_module(f"format_bench.families.{family.name}.operations")
    return cast("type[Operations]", module.OPERATIONS)


def registry_of(family: Family) -> Registry[Any]:
    """Return the registry of a family's adapters."""
    return cast("Registry[Any]", import_module(family.adapters).registry)
