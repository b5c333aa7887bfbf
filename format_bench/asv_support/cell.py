"""One file of an asv suite: who reads and writes it, and what is said when there is no value."""

from __future__ import annotations

import functools
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from adapter_core import UnavailableError, UnknownNameError
from adapter_core.adapter import BaseAdapter
from adapter_core.errors import WrongValuesError
from format_bench.asv_support.run import FILES, NOTES, journal, keeper, missing
from format_bench.results.status import Status

if TYPE_CHECKING:
    from adapter_core.registry import Registry


A = TypeVar("A", bound=BaseAdapter)


class Cell(ABC, Generic[A]):
    """What the benchmarks of one suite do with one file.

    Parameters
    ----------
    suite : str
        Module and class of the benchmark, as in "tabular.Tabular".
    params : sequence of str
        The parameters of the benchmark: format, data set, what else tells files apart, and any others.
    scale : str
        The scale, which says where results are.
    limit_seconds : float
        How long the process may take before it is ended as timed out.
    """

    registry: ClassVar[Registry[Any]]
    """The family of the adapters."""
    file_axes: ClassVar[int] = 2
    """How many parameters, from the first, tell files apart."""

    def __init__(self, suite: str, params: Sequence[str], scale: str, limit_seconds: float) -> None:
        self.suite, self.params = suite, params
        self._name = "-".join([params[1], params[0], *params[2 : self.file_axes]])
        self.label, self.dataset = params[:2]
        self.journal, self.keeper = journal(scale), keeper(scale)
        self.limit_seconds = limit_seconds

    def start(self, *suites_before: str) -> A:
        """Begin: return the adapter, warmed up; skip the cell, with a reason, if there is none.

        Parameters
        ----------
        *suites_before : str
            Suites that this one builds on. If the cell hung or crashed there, or here, earlier in this
            run, it fails at once instead of waiting again.

        Raises
        ------
        NotImplementedError
            asv's sign that a cell is skipped.
        """
        if missing(self.dataset).exists():
            reason = missing(self.dataset).read_text(encoding="utf-8")
            raise self.skip(Status.UNAVAILABLE, NotImplementedError(reason))
        try:
            adapter: A = self.registry.get(self.label)
        except (UnavailableError, UnknownNameError) as error:
            raise self.skip(Status.UNAVAILABLE, error) from error
        for suite in (self.suite, *suites_before):
            earlier = self.journal.ended_badly(suite, self.params[: self.file_axes])
            if earlier:
                # A process that is ended in a save leaves what may fill the disk.
                adapter.remove(self.path(adapter, "new"))
                self._write(earlier.status, earlier.sentence)
                raise RuntimeError(earlier.sentence)
        spent_seconds = time.monotonic() - _process_start()
        self.journal.watch(self.suite, self.params, max(1.0, self.limit_seconds - spent_seconds))
        self.guard(lambda: self.warm_up(adapter))
        return adapter

    def path(self, adapter: A, kind: str = "kept") -> Path:
        """Return where a file of the cell is, or will be: the one that is kept, or another."""
        return FILES / f"{self._name}-{kind}{adapter.suffix}"

    def keep(self, adapter: A, path: Path) -> None:
        """Keep the file that a measured save has left, if any, for the suites that read."""
        if path.exists():
            adapter.remove(self.path(adapter))
            path.rename(self.path(adapter))

    def saved(self, adapter: A) -> Path:
        """Return the path of the kept file; save it now if no benchmark has done so before."""
        path = self.path(adapter)
        if not path.exists():
            self.save(adapter, path)
        return path

    @abstractmethod
    def warm_up(self, adapter: A) -> None:
        """Save and read something tiny, so that no import of a library falls into a measured call."""

    @abstractmethod
    def save(self, adapter: A, path: Path) -> None:
        """Save the data set of the cell, unmeasured; skip the cell, or write down what is raised."""

    def note(self, name: str, value: str) -> None:
        """Note what was measured besides, for other processes of the cell."""
        self._note(name).write_text(value, encoding="utf-8")

    def noted(self, name: str, measure: Callable[[], object]) -> str:
        """Return what was noted; if nothing was, measure now, which notes it."""
        if not self.has_note(name):
            measure()
        return self.note_of(name)

    def note_of(self, name: str) -> str:
        """Return what was noted."""
        return self._note(name).read_text(encoding="utf-8")

    def has_note(self, name: str) -> bool:
        """Tell whether another process of the cell, or this one, has noted something."""
        return self._note(name).exists()

    def end(self) -> None:
        """End; called by asv's teardown, also while an error passes through, which is written down."""
        self.journal.unwatch()
        self.keeper.note_end()
        error = sys.exception()
        if error is not None:
            self._write_failure(error)

    def guard(self, step: Callable[[], object]) -> None:
        """Do a step of setup; write down what it raises, since asv calls no teardown then."""
        try:
            step()
        except Exception as error:
            self.journal.unwatch()
            self._write_failure(error)
            raise

    def skip(self, status: Status, error: Exception) -> NotImplementedError:
        """Write down why the cell is skipped, and return the error that makes asv skip it."""
        self.journal.unwatch()
        self._write(status, str(error))
        return NotImplementedError(str(error))

    def remark(self, sentence: str) -> None:
        """Write down what there is to say of the cell's value."""
        self._write(Status.VALUE, sentence)

    def _note(self, name: str) -> Path:
        return NOTES / f"{self._name}-{name}"

    def _write_failure(self, error: BaseException) -> None:
        named = str(error) if isinstance(error, WrongValuesError) else f"{type(error).__name__}: {error}"
        self._write(Status.FAILED, " ".join(named.split())[:500])

    def _write(self, status: Status, sentence: str) -> None:
        self.journal.write(self.suite, self.params, status, sentence)


@functools.cache
def _process_start() -> float:
    """Return the time of the first call in this process, by the monotonic clock."""
    return time.monotonic()
