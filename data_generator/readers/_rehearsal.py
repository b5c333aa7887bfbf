"""Reads a file first in a process of its own, where the library crashes over damaged files.

``python -m data_generator.readers._rehearsal REQUEST`` is that process.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core.errors import InvalidDataError
from data_generator.readers import every_reader
from data_generator.readers._reader import Request

if TYPE_CHECKING:
    from data_generator.readers._reader import TableReader


def rehearse(reader: TableReader, request: Request) -> None:
    """Read a file in a fresh process and forget what was read; what the library prints is not shown.

    Errors of our own are left for the reading that follows, where they surface as they are.

    Raises
    ------
    InvalidDataError
        If it cannot be read, or if the process crashes.
    """
    arguments = json.dumps([reader.what, {**asdict(request), "path": str(request.path)}])
    done = subprocess.run(  # noqa: S603 (this very module)
        [sys.executable, "-m", __name__, arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode < 0:
        name = signal.Signals(-done.returncode).name
        raise InvalidDataError(
            request.path, f"is damaged: the process that read it as {reader.what} died ({name})"
        )
    if done.returncode == 0 and done.stdout:
        raise InvalidDataError(request.path, *json.loads(done.stdout))


def main(arguments: str) -> None:
    """Read what the arguments say, and print what is the matter with it."""
    what, fields = json.loads(arguments)
    (reader,) = (each for each in every_reader() if each.what == what)
    try:
        reader.read(Request(**{**fields, "path": Path(fields["path"])}))
    except InvalidDataError as error:
        sys.stdout.write(json.dumps([error.problem, error.advice]))


if __name__ == "__main__":
    main(sys.argv[1])
