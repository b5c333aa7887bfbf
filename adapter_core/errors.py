"""Error tree of the whole project.

FormatBenchError
├── UnknownNameError (LookupError)          no adapter, data set, column or codec has that name
├── UnknownLevelError (ValueError)          the codec lacks that level, or has no levels
├── UnavailableError                        a package is missing, too old or broken on this machine
├── UnsupportedError                        the format, or its library, lacks that feature
│   └── CannotHoldError (ValueError)        the format cannot represent this table; nothing was written
├── InvalidSelectionError (ValueError)      a slice or predicate cannot select rows of this table
├── IncompleteError (OSError)               data in partitions were not committed, or lack a part
├── ParallelError                           a partition, a worker or an engine of workers failed
├── LinkError                               a server, a client or a network does not start or answer
├── ObjectStoreError                        an object store cannot be listed, or has nothing to remove
├── RemoteError (OSError)                   a server refused, lacked or broke off a request
│   ├── RemoteReadError                     a file on a server could not be read
│   └── RemoteWriteError                    a file could not be written to an object store
├── InvalidDataError                        a user's file or folder cannot be measured as it is
├── ForeignPickleError                      a pickle asks for something else than data
├── TooFewRowsError (ValueError)            a real table has fewer rows than requested
├── InvalidSpecError (ValueError)           a specification does not describe a table
├── InvalidRequestError (ValueError)        a run, or a codec grid, cannot be planned from this request
├── InvalidQuestionsError (ValueError)      a file does not declare questions, or not to these data
├── UserDataError                           the user's data of a run cannot be measured
├── InvalidFolderError                      a folder cannot take files, or its medium not be measured
├── LockedError                             another process uses the same file or folder
├── ClusterError                            a cluster cannot be reached, or its workers cannot be used
├── NotColdError                            a file could not be proven absent from the page cache
├── ColdProcessError                        a fresh process did not answer a query to a cold file
├── ReadsNotMappedError                     a call whose reads were to be recorded did not return
├── WrongValuesError                        data came back with other values than were saved
├── CanonicalFormError (ValueError)         a reader's output is not a table in canonical form
├── TrainingError                           a loader failed in a process of a training
├── JvmError                                a JVM failed, crashed or ran out of memory
├── InvalidRecordError (ValueError)         a mapping does not match the schema of records
│   └── NewerRecordError                    a record has the form of a newer release
├── InvalidResultsError (ValueError)        a file does not consist of records
│   └── InvalidBundleError                  a bundle is damaged, exceeds a limit, or fails a check
├── ResultsNotFoundError                    a folder lacks results of asv
├── NoCommonCellsError                      two results share no cell
├── NoCandidateError                        a recommendation's requirements exclude every candidate
├── UnknownCostError                        measured values lack a part of a candidate's cost
├── InvalidWeightError (ValueError)         a weight of a recommendation cannot be used
├── RefusedError                            a call of an assistant has no answer
├── GitError                                a git command failed
├── InvalidBranchError                      a branch cannot take the commits of a history
├── ResolutionError                         no set of versions meets the requirements
├── MonthlyError                            a step of the monthly run ends with an exit status
│   └── PushRejectedError                   the remote branch has moved
├── DamagedStateError                       a file of the program's own state is damaged
└── UnknownAsvPageError                     asv's page has another form than in the known versions

The message of each is one sentence meant for the user, who sees it without a traceback.
"""

from __future__ import annotations

import difflib
import os
import warnings
from collections.abc import Callable, Iterable, Mapping

from adapter_core.credentials import without_secrets
from adapter_core.text import printable

# Characters kept of a library's message about a server: it is a part of one line, and of a record.
_REASON_LENGTH = 300


class FormatBenchError(Exception):
    """Base of all errors that the project raises on purpose."""


class UnknownNameError(FormatBenchError, LookupError):
    """A name that does not exist; the message lists the nearest ones.

    Parameters
    ----------
    kind : str
        The kind of thing that was requested, e.g. "data format".
    name : str
        The name that was requested.
    known : iterable of str
        The names that exist.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.name = name
        known = sorted(known)
        lowered = {label.lower(): label for label in known}
        near = difflib.get_close_matches(name.lower(), lowered, n=3, cutoff=0.5)
        self.near = [lowered[match] for match in near]
        hint = f"did you mean {' or '.join(self.near)}?" if near else f"known: {', '.join(known)}"
        super().__init__(f"there is no {kind} {name!r}; {hint}")


class UnknownLevelError(FormatBenchError, ValueError):
    """A compression level that the codec does not have."""


class UnavailableError(FormatBenchError):
    """An adapter, or a codec of it, that exists but cannot work on this machine.

    Parameters
    ----------
    label : str
        The adapter's label, and the codec's name where only that cannot work.
    reason : str
        Why it cannot work, as a phrase.
    install_hint : str
        The command that would make it work.
    """

    def __init__(self, label: str, reason: str, install_hint: str) -> None:
        self.label = label
        self.reason = reason
        self.install_hint = install_hint
        super().__init__(f"{label} is unavailable: {reason}; try: {install_hint}")


class UnsupportedError(FormatBenchError):
    """A feature that the format, or its library, does not offer."""


class CannotHoldError(UnsupportedError, ValueError):
    """A table that the format cannot represent as it is; nothing was written."""


class InvalidSelectionError(FormatBenchError, ValueError):
    """A slice or a predicate that cannot select rows of a table."""


class IncompleteError(FormatBenchError, OSError):
    """A table or an array in partitions that was not committed, or lacks a part."""


class ParallelError(FormatBenchError):
    """A partition that could not be written or read, a worker that died, or an engine that failed."""


class LinkError(FormatBenchError):
    """A server, a client or a network that did not start or no longer answers."""


class ObjectStoreError(FormatBenchError):
    """A bucket that cannot be listed or changed, or an address without anything of the benchmark's."""


class RemoteError(FormatBenchError, OSError):
    """A file on a server that could not be read or written; credentials are hidden in its message.

    Parameters
    ----------
    label : str
        Label of the adapter.
    url : str
        Address of the file.
    error : BaseException
        Error of the library.
    """

    verb = "use"

    def __init__(self, label: str, url: str, error: BaseException) -> None:
        self.url = url
        cause = error.__cause__
        # fsspec raises FileNotFoundError for all failures, and keeps the other error as its cause.
        behind = f" ({_reason(cause)})" if cause is not None else ""
        super().__init__(f"{label} cannot {self.verb} {url}: {_reason(error)}{behind}")


class RemoteReadError(RemoteError):
    """A file on a server that could not be read."""

    verb = "read"


class RemoteWriteError(RemoteError):
    """A file that could not be written to an object store."""

    verb = "write"


def _reason(error: BaseException) -> str:
    """Return type and message of an error, without traces of calls inside the library."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or ["no reason given"]
    line = lines[-1] if lines[0].endswith("Traceback (most recent call last):") else lines[0]
    return printable(without_secrets(f"{type(error).__name__}: {line}"))[:_REASON_LENGTH]


class InvalidDataError(FormatBenchError):
    """A file or folder of a user that cannot be measured as it is.

    Parameters
    ----------
    place : path-like
        The file or folder.
    problem : str
        Predicate of the sentence whose subject is the place.
    advice : str, optional
        Advice to the user, as a clause.
    """

    def __init__(self, place: str | os.PathLike[str], problem: str, advice: str = "") -> None:
        self.place, self.problem, self.advice = place, problem, advice
        # Names of files and messages of libraries may contain control characters of terminals.
        super().__init__(printable(f"{os.fspath(place)}: {problem}{'; ' if advice else ''}{advice}"))


class ForeignPickleError(FormatBenchError):
    """A pickle that asks for something else than data."""


class TooFewRowsError(FormatBenchError, ValueError):
    """More rows requested than a real table has.

    Parameters
    ----------
    name : str
        The table.
    rows : int
        Number of rows requested.
    available : int
        Number of rows of the table.
    """

    def __init__(self, name: str, rows: int, available: int) -> None:
        super().__init__(f"{name} has {available:,} rows, not {rows:,}; ask for fewer")


class InvalidSpecError(FormatBenchError, ValueError):
    """A specification that does not describe a table.

    Parameters
    ----------
    place : str
        The file, or another name of the specification.
    mistakes : iterable of str
        One line for each mistake.
    """

    def __init__(self, place: str, mistakes: tuple[str, ...]) -> None:
        self.mistakes = mistakes
        super().__init__(f"{place}: {'; '.join(mistakes)}")


class InvalidRequestError(FormatBenchError, ValueError):
    """A request that no run, or no codec grid, can be planned from."""


class InvalidQuestionsError(FormatBenchError, ValueError):
    """A file that does not declare questions, or none to these data; the message names the entry."""


class UserDataError(FormatBenchError):
    """A user's data that a run cannot measure; the message contains the reason."""


class InvalidFolderError(FormatBenchError):
    """A folder that cannot take results or measured files, or whose medium cannot be measured."""


class LockedError(FormatBenchError):
    """A file or folder that another process has locked; the message contains its name."""


class ClusterError(FormatBenchError):
    """A cluster that cannot be reached, or whose workers cannot be used."""


class NotColdError(FormatBenchError):
    """Pages of a file could not be evicted, or it could not be proven that they were."""


class ColdProcessError(FormatBenchError):
    """A fresh process that did not answer a query from a file out of the page cache."""


class ReadsNotMappedError(FormatBenchError):
    """A call whose reads were to be recorded raised an error, crashed or took too long.

    Parameters
    ----------
    status : str
        Status of the cell that the map would have filled.
    sentence : str
        The reason.
    """

    def __init__(self, status: str, sentence: str) -> None:
        self.status = status
        super().__init__(sentence)


class WrongValuesError(FormatBenchError):
    """Data came back with other values than were saved."""


class CanonicalFormError(FormatBenchError, ValueError):
    """Output of a reader that is not a table in canonical form."""


class TrainingError(FormatBenchError):
    """A loader failed in a process of a training, which has no value then."""


class JvmError(FormatBenchError):
    """A JVM that failed, crashed or ran out of memory while it measured; the message is its own."""


class InvalidRecordError(FormatBenchError, ValueError):
    """A mapping that does not match the schema of records; the message names the field."""


class NewerRecordError(InvalidRecordError):
    """A record whose form is newer than this release; the message names both forms."""


class InvalidResultsError(FormatBenchError, ValueError):
    """A file that does not consist of records; the message names the file and the line."""


class InvalidBundleError(InvalidResultsError):
    """A bundle that is damaged, exceeds a limit, or fails a check; the message names the file."""


class ResultsNotFoundError(FormatBenchError):
    """A folder without results of asv."""


class NoCommonCellsError(FormatBenchError):
    """Two results without a common cell; the message lists the cells of each."""


class NoCandidateError(FormatBenchError):
    """Requirements that exclude every candidate; the message counts them by requirement."""


class UnknownCostError(FormatBenchError):
    """A candidate whose cost cannot be computed; the message names the missing value."""


class InvalidWeightError(FormatBenchError, ValueError):
    """A weight that cannot be used; the message names it."""


class RefusedError(FormatBenchError):
    """A call of an assistant that has no answer; the message is one line."""


class GitError(FormatBenchError):
    """A git command that failed.

    Parameters
    ----------
    command : str
        The subcommand, e.g. "push".
    returncode : int
        Exit status of git.
    stderr : str
        Text that git printed to the standard error output.
    """

    def __init__(self, command: str, returncode: int, stderr: str) -> None:
        self.returncode = returncode
        lines = [line for line in stderr.splitlines() if line.strip() and not line.startswith("hint:")]
        reason = next((line for line in lines if line.startswith(("fatal:", "error:"))), "")
        problem = without_secrets(reason or " ".join(lines[-1:]) or str(returncode))
        super().__init__(f"git {command} failed: {problem}")


class InvalidBranchError(FormatBenchError):
    """A branch that cannot take the commits of a history."""


class ResolutionError(FormatBenchError):
    """Requirements that no set of versions meets, or a package index that does not answer."""


class MonthlyError(FormatBenchError):
    """An error that ends a step of the monthly run with a line and an exit status.

    Parameters
    ----------
    status : int
        Exit status of the run, unless a graver error follows.
    sentence : str
        The reason.
    """

    def __init__(self, status: int, sentence: str) -> None:
        self.status = status
        super().__init__(sentence)


class DamagedStateError(FormatBenchError):
    """A file of the program's state that contains something else; it is named."""


class PushRejectedError(MonthlyError):
    """A push that the remote rejected since its branch has moved."""


class UnknownAsvPageError(FormatBenchError):
    """A page of asv in a form that no known version has."""


def deprecated_names(module: str, renamed: Mapping[str, type[Exception]]) -> Callable[[str], object]:
    """Return a module's `__getattr__` that gives errors under their old names, for one release.

    Parameters
    ----------
    module : str
        The module's `__name__`.
    renamed : mapping of str to type
        The errors by their old names.
    """

    def __getattr__(name: str) -> object:  # noqa: N807 (PEP 562)
        if name not in renamed:
            raise AttributeError(f"module {module!r} has no attribute {name!r}", name=name)
        new = renamed[name]
        warnings.warn(
            f"{module}.{name} is now {new.__module__}.{new.__name__}", DeprecationWarning, stacklevel=2
        )
        return new

    return __getattr__


OLD_NAMES: Mapping[str, type[Exception]] = {
    "CannotHold": CannotHoldError,
    "IncompleteArrayError": IncompleteError,
    "IncompleteTableError": IncompleteError,
    "Unavailable": UnavailableError,
    "UnknownLevel": UnknownLevelError,
    "UnknownName": UnknownNameError,
    "Unsupported": UnsupportedError,
}
"""Names of this module until version 0.1."""

__getattr__ = deprecated_names(__name__, OLD_NAMES)
