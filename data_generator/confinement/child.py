"""Program of a confined process: ``python -m data_generator.confinement.child`` with a request."""

from __future__ import annotations

import errno
import json
import os
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from adapter_core.errors import FormatBenchError, InvalidDataError
from data_generator.confinement import kernel

# CPU seconds for each second of the limit of time, if the process that watches it is gone.
CPU_SHARE = 64


def main() -> None:
    """Carry out the request on the standard input, and leave an answer in JSON."""
    request = json.load(sys.stdin)
    kernel.die_with(request["parent"])
    if request["may_be_zarr"]:
        # Some versions of numcodecs make a named semaphore when they are imported.
        with suppress(Exception):
            import_module("numcodecs")
    gaps = kernel.confine(
        [Path(request["folder"])],
        request["memory_bytes"],
        request["disk_bytes"],
        int(request["seconds"] * CPU_SHARE) + 1,
    )
    answer = {**_carried_out(request), "gaps": gaps}
    Path(request["answer"]).write_text(json.dumps(answer), encoding="utf-8")


def _carried_out(request: dict[str, Any]) -> dict[str, Any]:
    module, _, name = request["task"].partition(":")
    try:
        return {"value": getattr(import_module(module), name)(**request["arguments"])}
    except Exception as error:
        numbers = {getattr(each, "errno", 0) for each in _causes(error)}
        # The system may refuse memory for the import of a module, too.
        if errno.ENOMEM in numbers or any(isinstance(each, MemoryError) for each in _causes(error)):
            return {"limit": "memory"}
        if numbers & {errno.EFBIG, errno.ENOSPC}:
            return {"limit": "disk"}
        if isinstance(error, InvalidDataError):
            return {"invalid": [error.problem, error.advice, _inside(request["place"], error.place)]}
        if isinstance(error, FormatBenchError):
            return {"error": str(error)}
        if isinstance(error, OSError):
            return {"error": f"{error.filename or ''}: {error.strerror or error}".removeprefix(": ")}
        raise


def _inside(folder: str, place: str | os.PathLike[str]) -> str:
    """Return the path of a file below a folder; empty for the folder itself, and any other place."""
    try:
        found = Path(place).absolute().relative_to(Path(folder).absolute())
    except ValueError:
        return ""
    return "" if found == Path() else str(found)


def _causes(error: BaseException | None) -> list[BaseException]:
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found


if __name__ == "__main__":
    main()
