"""Repair of damaged results: every good record stays, and dropped lines are kept beside them.

A power failure leaves torn lines and runs of NULs, other programs leave anything. A piece of a line that
is a whole record counts as one, also behind a torn record or NULs.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from adapter_core.errors import InvalidRecordError, InvalidResultsError, NewerRecordError
from adapter_core.files import write_atomically
from format_bench.results.load import FILES
from format_bench.results.records import HEAD, parsed

DROPPED, DAMAGED = ".dropped", ".damaged"
"""Added to the names of files of records, for dropped lines, and of other files that are set aside."""

# No field contains it: quotation marks inside of text are escaped.
_STARTS = re.compile(b"(?=" + re.escape(HEAD) + b")")

# Space as JSON has it, and NULs.
_SPACE = b" \t\r\0"


@dataclass(frozen=True)
class DroppedPiece:
    """A line, or a piece of one, that is not a record."""

    line: int
    """From 1."""
    reason: str
    content: bytes

    @property
    def entry(self) -> bytes:
        """The piece as a line of JSON; NULs alone are only counted, in the reason."""
        facts: dict[str, object] = {"line": self.line, "reason": self.reason}
        if self.content.strip(b"\0"):
            try:
                facts["text"] = self.content.decode()
            except UnicodeDecodeError:
                facts["base64"] = base64.b64encode(self.content).decode()
        return json.dumps(facts, ensure_ascii=False).encode() + b"\n"


@dataclass(frozen=True)
class Repair:
    """Outcome for a file of records."""

    path: Path
    kept: int
    """Number of records."""
    dropped: tuple[DroppedPiece, ...]
    is_needed: bool
    """False if the file consists of records, and stays as it is."""


def files_of_records(source: Path) -> list[Path]:
    """Return the files of records in a folder, or a file itself.

    Raises
    ------
    InvalidResultsError
        If there is none.
    """
    if source.is_file():
        return [source]
    found = [source / name for name in FILES if (source / name).is_file()]
    if not found:
        raise InvalidResultsError(f"{source}: there is neither {' nor '.join(FILES)} in it")
    return found


def repair(path: Path, *, dry_run: bool = False) -> Repair:
    """Remove from a file of records everything that is not one.

    Dropped pieces are added to a file beside it, with their reasons, before the file is replaced.

    Parameters
    ----------
    path : Path
        The file. No run may be writing to it.
    dry_run : bool
        Only look.

    Raises
    ------
    InvalidResultsError
        If the file contains records of a newer release, or content but no record. It stays as it is.
    """
    path = path.resolve()
    with path.open("rb") as file:
        # As `records.append` does.
        fcntl.flock(file, fcntl.LOCK_EX)
        content = file.read()
        good, dropped = _examine(content, path)
        mended = b"".join(line + b"\n" for line in good)
        found = Repair(path, len(good), tuple(dropped), is_needed=mended != content)
        if found.is_needed and not dry_run:
            if not good:
                advice = "`format-bench run --fresh` starts over"
                raise InvalidResultsError(f"{path} has no record to keep, and stays as it is; {advice}")
            if dropped:
                _keep_dropped(path, dropped)
            with write_atomically(path, durable=True) as temporary:
                temporary.write_bytes(mended)
                shutil.copymode(path, temporary)
        return found


def set_aside_damaged(folder: Path, *, dry_run: bool = False) -> list[Path]:
    """Rename the JSON files of a folder that are not JSON, e.g. metadata; return their old names."""
    found = []
    for path in sorted(folder.glob("*.json")):
        try:
            json.loads(path.read_bytes())
        except (ValueError, RecursionError):
            found.append(path)
            if not dry_run:
                path.rename(path.with_name(path.name + DAMAGED))
    return found


def _examine(content: bytes, path: Path) -> tuple[list[bytes], list[DroppedPiece]]:
    """Return the good lines without their newlines, and the rest."""
    *lines, last = content.split(b"\n")
    good: list[bytes] = []
    dropped: list[DroppedPiece] = []
    for number, line in enumerate([*lines, last] if last else lines, start=1):
        for piece in _pieces(line):
            record = piece.strip(_SPACE)
            try:
                parsed(record)
            except NewerRecordError as error:
                raise InvalidResultsError(f"{path}, line {number}: {error}") from error
            except InvalidRecordError as error:
                reason = str(error) if record else _emptiness(piece)
                dropped.append(DroppedPiece(number, reason, piece))
            else:
                good.append(record)
                if b"\0" in piece:
                    nuls = DroppedPiece(number, f"{_emptiness(piece)} beside a record", b"")
                    dropped.append(nuls)
    return good, dropped


def _pieces(line: bytes) -> Iterator[bytes]:
    """Yield the parts of a line that each begin as a record does; the first one need not."""
    parts = _STARTS.split(line)
    yield from filter(None, parts) if line else parts


def _emptiness(piece: bytes) -> str:
    nuls = piece.count(b"\0")
    return f"{nuls:,} NUL byte{'' if nuls == 1 else 's'}" if nuls else "nothing in it"


def _keep_dropped(path: Path, dropped: list[DroppedPiece]) -> None:
    """Add dropped pieces to the file beside the records; they are on disk then."""
    with path.with_name(path.name + DROPPED).open("ab") as file:
        file.writelines(each.entry for each in dropped)
        file.flush()
        os.fsync(file.fileno())
