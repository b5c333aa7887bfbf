"""Files written and read for others, one after another in a process of their own.

The process may be one of another library set, whose libraries are older: so what is imported here is
little, and needs nothing but the adapters' own libraries.
"""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adapter_core.errors import UnsupportedError
from format_bench.compatibility import library_readers
from format_bench.compatibility.subjects import SUBJECTS, Cut
from format_bench.instruments.isolation import Outcome, outcome_of
from format_bench.results.status import CellStatus

# Characters of a foreign reader's last line that are kept as its message.
_LAST_LINE = 300

# Stands for paths in the command of a reader that takes many, and starts once for all of them.
_SEVERAL = "{files}"

# Files that a process of such a reader is given.
_MOST = 200

_STATUS = "status {}"

# Exit status of a writer whose format has no place for the table, or whose library has none.
_UNSUPPORTED = _STATUS.format(3)


@dataclass(frozen=True)
class TableFile:
    """A file of an edge case, whose canonical form is a table, or of a part of it."""

    label: str
    """The adapter that writes it."""
    table: str
    path: str
    cut: Cut | None = None
    """The part; None for the whole table."""
    feature: str = ""
    """The feature that a library's own call writes; empty for a file of the adapter."""
    family: str = "tables"
    """One of `SUBJECTS`."""


def write_files(files: Sequence[TableFile], limit_seconds: float) -> Iterator[tuple[TableFile, Outcome]]:
    """Write files; yield each with the canonical form of its table.

    Parameters
    ----------
    files : sequence of TableFile
        The files, whose folders exist.
    limit_seconds : float
        Time after which the process is killed, for each file.
    """
    for each in files:
        yield each, _limited(limit_seconds, _write, each)


def read_files(
    files: Sequence[TableFile], reader: str | Sequence[str], limit_seconds: float
) -> Iterator[tuple[TableFile, Outcome]]:
    """Read files by an adapter, or by the steps of a library's own call.

    Yields each with the canonical form of the data read.
    """
    for each in files:
        yield each, _limited(limit_seconds, _read, reader, each)


def read_by(labels: Sequence[str], path: str, limit_seconds: float) -> Iterator[tuple[str, Outcome]]:
    """Read a table by one adapter after another; yield each with the canonical form of its result."""
    for label in labels:
        yield label, _limited(limit_seconds, _read, label, TableFile(label, "", path))


def run_reader(
    files: Sequence[TableFile], command: Sequence[str], folder: str, limit_seconds: float
) -> Iterator[tuple[TableFile, Outcome]]:
    """Read each file by a command; yield it with the command's output.

    A file that ends a process which reads several, or takes too long in it, is read again alone.

    Parameters
    ----------
    files : sequence of TableFile
        The files.
    command : sequence of str
        The command, with "{file}" for the path, or "{files}" for all.
    folder : str
        Its current folder.
    limit_seconds : float
        Time after which a command is killed.
    """
    left, most = list(files), _MOST
    while left:
        paths = [each.path for each in left[: most if _SEVERAL in command else 1]]
        if len(paths) == 1:
            found = [_run(command, paths[0], folder, limit_seconds)]
        else:
            found = _together(command, paths, folder, limit_seconds)
        yield from zip(left, found, strict=False)
        del left[: len(found)]
        most = _MOST if len(found) == len(paths) else 1


def _together(
    command: Sequence[str], paths: Sequence[str], folder: str, limit_seconds: float
) -> list[Outcome]:
    """Return the outcomes of the files that a process has answered, up to one that ends it."""
    try:
        printed = subprocess.run(  # noqa: S603 (of a reader's declaration)
            [part for each in command for part in (paths if each == _SEVERAL else [each])],
            cwd=folder,
            capture_output=True,
            timeout=limit_seconds,
            check=False,
        ).stdout
    except subprocess.TimeoutExpired as error:
        printed = error.stdout or b""
    return list(_answers(printed.decode("utf-8", "replace")))


def _answers(printed: str) -> Iterator[Outcome]:
    """Yield the outcome of each file in the output of a reader: a whole table, or its error."""
    # Not by `splitlines`, which also takes characters that JSON allows within texts.
    lines = printed.rpartition("\n")[0].split("\n")
    while lines:
        try:
            head = json.loads(lines[0])
            number = 0 if "error" in head else int(head["rows"])
        except (ValueError, TypeError, KeyError):
            return
        if number >= len(lines):
            return
        if "error" in head:
            yield _refused(str(head["error"]), 1)
        else:
            yield Outcome("".join(f"{line}\n" for line in lines[: 1 + number]))
        del lines[: 1 + number]


def run_writer(
    files: Sequence[TableFile], command: Sequence[str], folder: str, limit_seconds: float
) -> Iterator[tuple[TableFile, Outcome]]:
    """Write each file by a command that gets the canonical form of its table; yield it with this form.

    Parameters are those of `run_reader`.
    """
    for file in files:
        saved = _limited(limit_seconds, _canonical, file)
        if saved.status:
            yield file, saved
            continue
        written = _run(command, file.path, folder, limit_seconds, saved.value)
        if written.error == _UNSUPPORTED:
            written = Outcome(
                status=CellStatus.UNSUPPORTED, sentence=f"{file.label}: {written.sentence}"
            )
        yield file, written if written.status else saved


def _limited(seconds: float, call: Callable[..., str], *arguments: Any) -> Outcome:
    # The signal's default action ends the process, also one that hangs in a library's own code.
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return Outcome(call(*arguments))
    except Exception as error:
        return outcome_of(error)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _write(file: TableFile) -> str:
    subject = SUBJECTS[file.family]
    data = subject.data(file.table, file.cut)
    if file.feature:
        # Library sets, which only read features, lack what declarations need.
        from format_bench.compatibility import feature_writers, features

        declared = features.find(file.label)
        feature = declared.feature(file.feature)
        if feature.unwritten:
            raise UnsupportedError(feature.unwritten)
        df = data.assign(c=feature.value) if feature.value else data
        return feature_writers.write(df, feature.types, *declared.call_of(feature), file.path).text
    adapter = subject.adapters.get(file.label)
    adapter.save(data, Path(file.path))
    return subject.canonical(data, adapter).text


def _canonical(file: TableFile) -> str:
    subject = SUBJECTS[file.family]
    return subject.canonical(subject.data(file.table, file.cut)).text


def _read(reader: str | Sequence[str], file: TableFile) -> str:
    if not isinstance(reader, str):
        return library_readers.read(reader, file.path).text
    subject = SUBJECTS[file.family]
    adapter = subject.adapters.get(reader)
    return subject.read(adapter, Path(file.path), file.table, file.cut).text


def _run(
    command: Sequence[str], path: str, folder: str, limit_seconds: float, given: str = ""
) -> Outcome:
    """Run a command on a path; return its output, or the last line of its errors."""
    try:
        done = subprocess.run(  # noqa: S603 (of a reader's declaration)
            [each.replace("{file}", path).replace(_SEVERAL, path) for each in command],
            cwd=folder,
            input=given.encode(),
            capture_output=True,
            timeout=limit_seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        sentence = f"not finished after {limit_seconds:g} seconds"
        return Outcome(status=CellStatus.TIMED_OUT, sentence=sentence)
    if done.returncode < 0:
        name = signal.Signals(-done.returncode).name
        return Outcome(status=CellStatus.FAILED, sentence=f"its process crashed ({name})")
    printed, errors = (each.decode("utf-8", "replace") for each in (done.stdout, done.stderr))
    if done.returncode:
        lines = errors.strip().splitlines() or ["no message"]
        return _refused(lines[-1], done.returncode)
    return next(_answers(printed), Outcome(printed)) if _SEVERAL in command else Outcome(printed)


def _refused(message: str, status: int) -> Outcome:
    sentence = " ".join(message.split())[:_LAST_LINE]
    return Outcome(None, CellStatus.FAILED, sentence, _STATUS.format(status))
