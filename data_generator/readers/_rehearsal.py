"""Trial reading of a file in a confined process, for libraries that crash on damaged files."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from adapter_core.errors import UserDataError
from data_generator.confinement import process
from data_generator.readers import every_reader
from data_generator.readers._reader import ReadRequest, TableReader


def rehearse(reader: TableReader, request: ReadRequest) -> None:
    """Read a file in a confined process, and discard the table and all output of the library.

    Nothing is done in a process that is confined already: the process that watches it reports its end.
    Other errors than `InvalidDataError` are ignored: they are raised by the reading that follows.

    Raises
    ------
    InvalidDataError
        If the file cannot be read, or if the process crashes.
    """
    if process.is_confined():
        return
    arguments = {"kind": reader.kind, "fields": {**asdict(request), "path": str(request.path)}}
    with suppress(UserDataError):
        process.call(f"{__name__}:attempt", arguments, place=request.path)


def attempt(kind: str, fields: dict[str, Any]) -> None:
    """Read the file of a request."""
    (reader,) = (each for each in every_reader() if each.kind == kind)
    reader.read(ReadRequest(**{**fields, "path": Path(fields["path"])}))
