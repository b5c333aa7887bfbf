"""First save or read of a program, in a new interpreter.

The new interpreter imports the adapter's file, and for a save makes the records, but none of the store's
libraries: the call that is timed imports them. A JVM's first call loads its classes likewise.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import record_stores
from format_bench.families.records import stored


def first_seconds(arguments: list[str | Path]) -> float:
    """Return the wall seconds of the call that `main` makes of these arguments.

    Raises
    ------
    RuntimeError
        If the interpreter fails; the message is the last line of its errors.
    """
    done = subprocess.run(  # noqa: S603 (this module)
        [sys.executable, "-m", __name__, *arguments],
        # This process' packages, also where they are not installed.
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        raise RuntimeError(lines[-1])
    return float(done.stdout)


def main(operation: str, label: str, data: Path, file: Path, *codec: str) -> None:
    """Make one call and print its seconds.

    Parameters
    ----------
    operation : str
        "save" or "read".
    label : str
        Label of the store.
    data : Path
        Stored records.
    file : Path
        File to save to, or to read.
    *codec : str
        Codec and level to save with; none for no compression.
    """
    store = record_stores.find(label)
    name = codec[0] if codec else None
    level = int(codec[1]) if len(codec) > 1 else None
    if operation == "save":
        records = stored.load(data)
        _ = records.objects
        store.check(records)
        store = store.without_check()
        start = time.perf_counter()
        store.save(records, file, name, level)
    else:
        of = stored.facts(data).of
        start = time.perf_counter()
        store.read(file, of)
    print(time.perf_counter() - start)  # noqa: T201 (the answer)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]), *sys.argv[5:])
