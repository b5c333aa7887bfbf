"""Trials of a change of a file: its calls, the files left by faults, and their readers' verdicts."""

from __future__ import annotations

import contextlib
import errno
import gc
import hashlib
import importlib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Any

from adapter_core.errors import FormatBenchError, UnavailableError, UnsupportedError, WrongValuesError
from adapter_core.files import is_partial
from format_bench.families.operations import Operations
from format_bench.instruments import stopped_calls
from format_bench.instruments.file_calls import KILL, PASS, Decide, FileCall, Kind, Watcher
from format_bench.instruments.forked import MESSAGE_LENGTH, Ended, call_in_child
from format_bench.instruments.memory_limit import limit_address_space
from format_bench.results.display.text import plural
from format_bench.results.suites import FAMILIES
from format_bench.studies.damaging.damaged_reads import LIMIT_BYTES, Operate, store_found
from format_bench.studies.surviving.disk import Disk, Tree, tree_of, write_tree
from format_bench.studies.surviving.moments import END, Fault, spread, states
from format_bench.studies.surviving.parts import arranged, count_of, is_part
from format_bench.studies.surviving.ways import Renamed, Versions, Way, make

PROOFS = 3
"""Writers of each change that are really killed, whose files are compared with the replayed ones."""


class Finding(StrEnum):
    """Finding of a reader after a fault; the value is its name in results."""

    NEW = "new"
    EARLIER = "earlier"
    ABSENT = "absent"
    ERROR = "error"
    CUT = "cut"
    DIFFERENT = "different"
    CRASH = "crash"
    HANG = "hang"


# Families whose values are decoded while they are compared: errors then are the reader's.
_LAZY = {"arrays", "records"}

# Verdicts that do not depend on the earlier version.
_OF_FILES_ALONE = {Finding.NEW, Finding.ERROR, Finding.CUT, Finding.CRASH, Finding.HANG}


@dataclass(frozen=True)
class FaultTrial:
    """A fault at a moment, and its verdict."""

    fault: Fault
    number: int
    """Calls that were made before."""
    call: str
    verdict: Finding
    message: str = ""
    """Error, signal, or the difference."""
    claims_success: bool = False
    """Whether the writer reported no error, on a full disk."""

    @property
    def is_last(self) -> bool:
        """Whether the change had returned before."""
        return self.call == END


@dataclass(frozen=True)
class ChangedFile:
    """A changed file, before and after."""

    file: Path
    before: Tree
    """All files of its folder before the change."""
    references: dict[Finding, Path]
    """The values that a reader returns of the earlier version, if there is one, and of the new one."""
    usual: dict[Finding, tuple[tuple[float, ...], str]]
    """Result of the comparison of each version with itself."""
    modules: tuple[str, ...]
    """Modules that reading and writing import."""


@dataclass(frozen=True)
class ChangeTrials:
    """All trials of a change."""

    calls: int
    """Calls of the change."""
    syncs: int
    """Of these, calls that bring bytes or names to the device."""
    trials: tuple[FaultTrial, ...]
    judged: dict[str, tuple[Finding, str]]
    """Verdicts by digest of the files, for further changes of files of the same format."""


def prepare(operate: Operate, data: Path, count: int, way: Way, place: Path) -> ChangedFile:
    """Save the earlier version, change it, and store both as a reader returns them.

    Raises
    ------
    CannotHoldError, UnavailableError, UnsupportedError
        If the format cannot keep the data, a package is missing, or the library cannot do it this way.
    """
    with operate(data) as operations:
        folder = place / "files"
        folder.mkdir()
        file = folder / f"file{operations.adapter.suffix}"
        versions = Versions.of(operations, operations.load(data), count, way)
        operations.check(versions.given)
        references, usual = {}, {}

        def note(version: Finding, values: Any) -> None:
            found = read_as(operations, way, file)
            operations.verify(values if way.keeps_order(operations.adapter) else arranged(values), found)
            references[version] = place / version.value
            store_found(operations, found, references[version])
            reference = operations.load(references[version])
            measured = operations.verify(reference, read_as(operations, way, file))
            usual[version] = (tuple(measured.repeats), measured.sentence)

        if way.has_earlier:
            operations.save(versions.earlier, file)
            note(Finding.EARLIER, versions.earlier)
        before = tree_of(folder)
        try:
            make(operations, way, versions, file)
            note(Finding.NEW, versions.after)
        except FormatBenchError as error:
            if not isinstance(error, WrongValuesError):
                raise
            raise UnsupportedError(f"the library's call does not make {way.change}: {error}") from error
        except Exception as error:
            if way.renamed is not Renamed.NOT or not way.has_earlier:
                raise
            reason = f"{type(error).__name__}: {error}".replace(f"{folder}/", "")[:MESSAGE_LENGTH]
            raise UnsupportedError(f"the library refuses a path that is there: {reason}") from error
    return ChangedFile(file, before, references, usual, tuple(sys.modules))


def read_as(operations: Operations, way: Way, file: Path) -> Any:
    """Read a file, the rows in an order of their own if the library may return them in any."""
    found = operations.read(file)
    return found if way.keeps_order(operations.adapter) else arranged(found)


def run_trials(  # noqa: PLR0913, PLR0917 (positional, as of all isolated steps)
    operate: Operate,
    prepared: ChangedFile,
    data: Path,
    count: int,
    way: Way,
    most: int,
    limit_seconds: float,
    judged: dict[str, tuple[Finding, str]],
) -> ChangeTrials:
    """Change a file under a watch, make the states that faults leave, and read each in a child.

    Parameters
    ----------
    operate, data, count, way
        As `prepare` takes them.
    prepared : ChangedFile
        The file and its versions.
    most : int
        Moments of each fault.
    limit_seconds : float
        Wall time after which a reader counts as hanging.
    judged : dict
        Verdicts on the same new version after other changes.

    Raises
    ------
    UnavailableError
        If calls cannot be recorded here.
    RuntimeError
        If the recorded calls do not explain the files.
    """
    stopped_calls.check_available()
    limit_address_space(LIMIT_BYTES)
    with operate(data) as operations:
        trials = _Trials(operations, prepared, data, count, way, limit_seconds)
        trials.judged |= {key: found for key, found in judged.items() if found[0] in _OF_FILES_ALONE}
        return trials.run(most)


class _Trials:
    def __init__(  # noqa: PLR0913, PLR0917 (as `run_trials` takes them)
        self,
        operations: Operations,
        prepared: ChangedFile,
        data: Path,
        count: int,
        way: Way,
        limit_seconds: float,
    ) -> None:
        self._operations, self._prepared, self._way = operations, prepared, way
        self._limit = limit_seconds
        self._folder = prepared.file.parent
        self._versions = Versions.of(operations, operations.load(data), count, way)
        self._known = {each: operations.load(path) for each, path in prepared.references.items()}
        for name in prepared.modules:
            with contextlib.suppress(Exception):
                importlib.import_module(name)
        gc.collect()
        # The collector of a child would copy each page of memory that it marks.
        gc.freeze()
        self.judged: dict[str, tuple[Finding, str]] = {}

    def run(self, most: int) -> ChangeTrials:
        calls = self._recorded()
        made = [each for each in calls if each.kind is not Kind.STORE]
        self._prove(len(made))
        trials = [
            FaultTrial(state.fault, state.number, state.call, *self._judge(state.tree))
            for state in states(self._prepared.before, calls, most)
        ]
        trials += self._on_full_disk(made, most)
        syncs = sum(each.kind is Kind.SYNC or each.is_synced for each in calls)
        return ChangeTrials(len(made), syncs, tuple(trials), self.judged)

    def _recorded(self) -> list[FileCall]:
        """Return the calls of the change, if they explain the files."""
        watcher, ended = self._changed()
        if ended.error or ended.death or ended.is_late:
            how = ended.error or ended.death or "it did not finish"
            raise RuntimeError(f"a forked process could not make the change: {how}")
        if self._replayed(watcher.calls).now() != tree_of(self._folder):
            raise RuntimeError("the recorded calls do not explain the files that they left")
        verdict, message = self._judge(tree_of(self._folder))
        if verdict is not Finding.NEW:
            raise RuntimeError(f"a forked process did not read the whole file: {verdict} {message}")
        return watcher.calls

    def _prove(self, total: int) -> None:
        """Kill writers at some of their calls, and compare their files with the replayed ones.

        Raises
        ------
        RuntimeError
            If they differ in a byte.
        """
        for place in range(PROOFS):
            moment = total * (place + 1) // (PROOFS + 1)

            def decide(number: int, _: FileCall, at: int = moment) -> int:
                return KILL if number >= at else PASS

            watcher, _ = self._changed(decide)
            if self._replayed(watcher.calls).now() != tree_of(self._folder):
                raise RuntimeError("a killed writer left other files than the replay of its calls")

    def _on_full_disk(self, calls: Sequence[FileCall], most: int) -> Iterator[FaultTrial]:
        """Yield trials in which calls that need space fail from a moment on."""
        needing = [number for number, call in enumerate(calls) if call.needs_space]
        for place in spread(len(needing) - 1, most) if needing else ():
            first = needing[place]

            def decide(number: int, call: FileCall, at: int = first) -> int:
                return errno.ENOSPC if number >= at and call.needs_space else PASS

            _, ended = self._changed(decide)
            claims = not (ended.error or ended.death or ended.is_late)
            verdict, message = self._judge(tree_of(self._folder))
            if not claims:
                message = f"{message}; the writer: {ended.error or ended.death or 'hung'}".lstrip("; ")
            yield FaultTrial(Fault.FULL, first, str(calls[first]), verdict, message, claims)

    def _replayed(self, calls: Sequence[FileCall]) -> Disk:
        disk = Disk(self._prepared.before)
        for call in calls:
            disk.apply(call)
        return disk

    def _changed(self, decide: Decide = lambda _number, _call: PASS) -> tuple[Watcher, Ended]:
        """Change the file as it was before, in a watched child."""
        write_tree(self._prepared.before, self._folder)
        watcher = Watcher(self._folder, decide)
        with watcher.following() as watched:

            def change(_: object) -> None:
                watched()
                make(self._operations, self._way, self._versions, self._prepared.file)

            ended = call_in_child(change, self._limit)
        if watcher.problem:
            reason = f"{watcher.problem} {ended.error}".strip()
            raise UnavailableError(stopped_calls.RECORD, reason, stopped_calls.PERMITTING)
        return watcher, ended

    def _judge(self, tree: Tree) -> tuple[Finding, str]:
        """Return the verdict on a state of the files; equal states are read once."""
        digest = hashlib.sha256()
        for path, content in sorted(tree.items()):
            # No reader looks for our temporary names.
            if is_partial(PurePosixPath(path).parts[0]):
                continue
            digest.update(f"{path}\0{'folder' if content is None else len(content)}\0".encode())
            digest.update(content or b"")
        if (key := digest.hexdigest()) not in self.judged:
            write_tree(tree, self._folder)
            self.judged[key] = self._read()
        return self.judged[key]

    def _read(self) -> tuple[Finding, str]:
        if not self._prepared.file.exists():
            return Finding.ABSENT, ""
        ended = call_in_child(self._compared, self._limit)
        if ended.is_late:
            # A busy machine is late once, as is a fork that met another thread's lock; a hang repeats.
            ended = call_in_child(self._compared, 2 * self._limit)
        if ended.is_late:
            return Finding.HANG, f"not finished after {2 * self._limit:.0f} seconds"
        if ended.death:
            last = f": {ended.lines[-1]}" if ended.lines else ""
            return Finding.CRASH, f"{ended.death}{last}"[:MESSAGE_LENGTH]
        if ended.error:
            return Finding.ERROR, ended.error.replace(f"{self._folder}/", "")
        found: tuple[Finding, str] = ended.value
        return found

    def _compared(self, _: object) -> tuple[Finding, str]:
        """Read the file, and return which version it is; raises as the reader does."""
        operations, file = self._operations, self._prepared.file
        difference = ""
        try:
            found = read_as(operations, self._way, file)
        except Exception:
            if not operations.adapter.recover(file):
                raise
            found = read_as(operations, self._way, file)
        for version, known in self._known.items():
            try:
                measured = operations.verify(known, found)
                if (tuple(measured.repeats), measured.sentence) == self._prepared.usual[version]:
                    return version, ""
                difference = measured.sentence
            except WrongValuesError as error:
                difference = str(error)
            except Exception as error:
                if operations.family in _LAZY:
                    raise
                difference = f"{type(error).__name__}: {error}"
        for version, known in self._known.items():
            if self._is_part(known, found):
                item = FAMILIES[operations.family].item
                return Finding.CUT, f"{count_of(found):,} of {plural(count_of(known), item)}, {version}"
        return Finding.DIFFERENT, difference[:MESSAGE_LENGTH]

    def _is_part(self, known: Any, found: Any) -> bool:
        """Return whether a reader has returned the first items of a version, or some if in any order."""
        operations = self._operations
        if operations.family == "tables":
            return is_part(known, found, is_ordered=self._way.keeps_order(operations.adapter))
        if operations.family == "arrays" or count_of(found) >= count_of(known):
            return False
        with contextlib.suppress(Exception):
            operations.verify(operations.take(known, range(count_of(found))), found)
            return True
        return False
