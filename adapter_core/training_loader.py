"""Base class of training loaders: samples prepared in a folder, and fed batch by batch."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from adapter_core.adapter import BaseAdapter
from adapter_core.availability import install_hint, probe
from adapter_core.errors import CannotHoldError, UnavailableError, UnsupportedError
from adapter_core.reader import Reader
from adapter_core.remote import RemoteFile
from adapter_core.sample_set import Sample, SampleKind, SampleSet

Batch = Mapping[str, Any]
"""Values of the samples of a batch by field, `INDEX` among them: an array or a tensor whose first axis
are the samples, or a list where the shapes of samples differ, and of texts. It is valid until the next
batch is asked for: a loader may use its memory again."""


@dataclass(frozen=True)
class Feeding:
    """How a training wants its samples."""

    decode: Callable[[Sample], Sample]
    """Turns a stored sample into the model's input; can be pickled, and is called in the workers."""
    batch_size: int = 32
    """Samples of a batch; the last of an epoch has the rest, and is not dropped."""
    seed: int | None = 0
    """Seed of the order, which differs from epoch to epoch; None for the stored order."""
    workers: int = 0
    """Processes that load ahead; 0 for the process of the training itself."""
    rank: int = 0
    """Number of this process among those that train together, from 0 on."""
    world: int = 1
    """Number of processes that train together: each gets a part of every epoch."""
    cache: Path | None = None
    """Folder for copies of files from a server; None for local files."""
    cache_bytes: int | None = None
    """Most bytes of such copies, for loaders that limit them (`limits_cache`); None for no limit."""


class Feed(Reader):
    """Open loader of one process of a training; `close` ends its workers.

    A subclass implements `epoch`, and `state` if the loader resumes.
    """

    @abstractmethod
    def epoch(self, number: int, state: Any = None) -> Iterator[Batch]:
        """Return the batches of an epoch.

        Workers may stay from epoch to epoch, as the loader does by itself.

        Parameters
        ----------
        number : int
            Number of the epoch, from 0 on.
        state : Any, optional
            A state that `state` of an earlier process returned within this epoch: the batches after it.
        """

    def state(self) -> Any:
        """Return the state from which a later process goes on after the last batch, in types of JSON.

        Raises
        ------
        UnsupportedError
            If the loader cannot resume.
        """
        raise UnsupportedError("its state within an epoch cannot be saved")


class TrainingLoader(BaseAdapter):
    """A way to keep samples, and to feed them to a model.

    A subclass implements `_prepare` and `_open`, and declares its limits.
    """

    suffix = ".samples"
    snippet = "a loader is more than a call that writes and one that reads: its file shows them"
    refuses: ClassVar[Mapping[SampleKind, str]] = {}
    """Kinds of samples that it cannot feed, each with the reason, as a clause."""
    single_rank: ClassVar[str] = ""
    """Reason why processes that train together cannot share an epoch; empty if they can."""
    cannot_resume: ClassVar[str] = ""
    """Reason why an epoch cannot be resumed in its middle; empty if it can."""
    local_only: ClassVar[str] = "it reads local files only"
    """Reason why it cannot read prepared files from S3; empty if it can."""
    shards: int = 0
    """Files of a prepared set, if the loader cuts it into as many of equal size as are asked for."""
    remote_requires: ClassVar[tuple[str, ...]] = ()
    """Requirement strings of further distributions that it reads from S3 by."""
    limits_cache: ClassVar[bool] = False
    """Whether it keeps copies of files from S3, and `Feeding.cache_bytes` limits them."""
    advice: ClassVar[Mapping[str, str]] = {}
    """Settings that its makers advise, each with their page and the day on which it was read."""

    def prepare(self, samples: SampleSet, folder: Path) -> None:
        """Write samples into a folder, the loader's own; replace an earlier one.

        Parameters
        ----------
        samples : SampleSet
            The samples in stored order. Each is requested once, and not kept.
        folder : Path
            The folder: all files below it can be copied to a server.

        Raises
        ------
        CannotHoldError
            If the loader has no such samples. Nothing has been written then.
        FileNotFoundError
            If the folder to write in does not exist.
        """
        folder = self._in_folder(folder)
        if self.checks_saves:
            self.check(samples)
        with self.replacing(folder) as temporary:
            temporary.mkdir()
            self._prepare(samples, temporary)

    def check(self, samples: SampleSet) -> None:
        """Raise `CannotHoldError`, with the reason, if the loader has no such samples."""
        if samples.kind in self.refuses:
            raise CannotHoldError(f"{self.label} feeds no {samples.kind}: {self.refuses[samples.kind]}")

    def open(self, place: Path | RemoteFile, feeding: Feeding) -> Feed:
        """Open prepared samples; close the feed, or use it in a `with` statement.

        Parameters
        ----------
        place : Path or RemoteFile
            The prepared folder, or its copy on an object store.
        feeding : Feeding
            Batches, order, workers and rank.

        Raises
        ------
        FileNotFoundError
            If the folder does not exist.
        UnsupportedError
            If the loader has no ranks, or reads local files only.
        UnavailableError
            If a package is missing that it reads object stores by.
        """
        if feeding.world > 1 and self.single_rank:
            raise UnsupportedError(f"{self.label} has one rank: {self.single_rank}")
        if isinstance(place, RemoteFile):
            self.check_server()
            return self._open_remote(place, feeding)
        return self._open(self._existing(place), feeding)

    def check_server(self) -> None:
        """Raise `UnsupportedError` or `UnavailableError` if it cannot read from object stores here."""
        if self.local_only:
            raise UnsupportedError(f"{self.label} reads no object stores: {self.local_only}")
        found = probe(self.remote_requires, self.modules, install_hint("links"))
        if not found:
            raise UnavailableError(f"{self.label} on servers", found.reason, found.install_hint)

    @abstractmethod
    def _prepare(self, samples: SampleSet, folder: Path) -> None:
        """Write the checked samples into an empty folder; iterate over them once."""

    @abstractmethod
    def _open(self, folder: Path, feeding: Feeding) -> Feed:
        """Open a prepared folder."""

    def _open_remote(self, file: RemoteFile, feeding: Feeding) -> Feed:
        """Open the copy of a prepared folder on an object store."""
        raise NotImplementedError(f"{type(self).__module__}: reads servers, so it must override this")
