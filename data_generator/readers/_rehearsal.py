"""Trial reading of a file in a separate process, for libraries that crash on damaged files.

``python -m data_generator.readers._rehearsal REQUEST`` is the program of that process.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from adapter_core.errors import InvalidDataError
from data_generator.readers import every_reader
from data_generator.readers._reader import ReadRequest, TableReader


def rehearse(reader: TableReader, request: ReadRequest) -> None:
    """Read a file in a new process, and discard the table and all output of the library.

    Other errors than `InvalidDataError` are ignored: they are raised by the reading that follows.

    Raises
    ------
    InvalidDataError
        If the file cannot be read, or if the process crashes.
    """
    arguments = json.dumps([reader.kind, {**asdict(request), "path": str(request.path)}])
    done = subprocess.run(  # noqa: S603 (this very module)
        [sys.executable, "-m", __name__, arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    # A negative status is the number of the signal that ended the process.
    if done.returncode < 0:
        name = signal.Signals(-done.returncode).name
        raise InvalidDataError(
            request.path, f"is damaged: the process that read it as {reader.kind} died ({name})"
        )
    if done.returncode == 0 and done.stdout:
        raise InvalidDataError(request.path, *json.loads(done.stdout))


def main(arguments: str) -> None:
    """Read the file of a request in JSON, and print the problem and advice in JSON if it fails."""
    kind, fields = json.loads(arguments)
    (reader,) = (each for each in every_reader() if each.kind == kind)
    try:
        reader.read(ReadRequest(**{**fields, "path": Path(fields["path"])}))
    except InvalidDataError as error:
        sys.stdout.write(json.dumps([error.problem, error.advice]))


if __name__ == "__main__":
    main(sys.argv[1])
