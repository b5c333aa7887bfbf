"""Fuzz test of the readers: ``python -m tools.fuzz_readers FOLDER`` reads files with random damage.

The number of each outcome is printed as JSON by kind of file: "read", "refused", or the error raised. If
the library crashes on damaged files, they are read in another process, and the message of `load_table`
about a file that crashes it is printed too.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from adapter_core.errors import InvalidDataError
from data_generator import location
from data_generator.readers._reader import ReadRequest
from data_generator.user.file_kind import codec_of, reader_of
from data_generator.user.table import load_table
from tests.factories.files import WRITERS, table, write

ROWS = 20
FILES = dict.fromkeys(set(WRITERS) - {"a.csv.zst", "a.tsv", "a.jsonl.xz"}, 200)
"""Number of damaged files of each kind; the same content with another compression is excluded."""
FILES |= {"fixed.h5": 100, "table.h5": 100, "a.duckdb": 50, "a.lance": 50}
"""HDF5 has two layouts, and the others take long to open."""

CRASHING = ("fixed.h5", "table.h5", "a.lance")


def damage(path: Path, seed: int) -> None:
    """Truncate a file, or one of a folder, or flip 1 to 16 of its bits."""
    draw = random.Random(seed)
    target = draw.choice(sorted(p for p in path.rglob("*") if p.is_file())) if path.is_dir() else path
    data = bytearray(target.read_bytes())
    if seed % 4:
        for _ in range(draw.choice((1, 1, 4, 16))):
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    else:
        del data[draw.randrange(len(data)) :]
    target.write_bytes(data)


def outcome(path: Path) -> str:
    """Return the outcome of reading a file in this process."""
    try:
        found = location.find(path)
        codec = codec_of(found)
        reader = reader_of(found, codec)
        if reader.crashes:
            reader.read(ReadRequest(found.path, codec, None, None, 0, trust_pickle=False))
        else:
            load_table(path)
    except InvalidDataError as error:
        return "refused" if str(error).isprintable() else f"not one line: {error!r}"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return "read"


def each_outcome(kept: Path, path: Path, seeds: range) -> Iterator[str]:
    """Yield the outcomes of reading a file with different damage."""
    for seed in seeds:
        (shutil.copytree if kept.is_dir() else shutil.copy)(kept, path)
        damage(path, seed)
        yield outcome(path)
        (shutil.rmtree if path.is_dir() else Path.unlink)(path)


def each_outcome_in_a_fork(kept: Path, path: Path, seeds: range) -> Iterator[str]:
    """Yield the same from another process, which may print and is restarted after a crash."""
    while seeds:
        receiver, sender = os.pipe()
        child = os.fork()
        if not child:
            # Libraries print on their standard error output when they crash.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            for result in each_outcome(kept, path, seeds):
                os.write(sender, result.replace("\n", " ").encode() + b"\n")
            os._exit(0)
        os.close(sender)
        with os.fdopen(receiver, encoding="utf-8") as pipe:
            results = pipe.read().splitlines()
        _, status = os.waitpid(child, 0)
        yield from results
        seeds = seeds[len(results) :]
        if os.WIFSIGNALED(status):
            yield f"crashed: {refusal(path)}"
            shutil.rmtree(path) if path.is_dir() else path.unlink()
            seeds = seeds[1:]


def write_in_a_fork(name: str, folder: Path) -> None:
    """Write a file in another process: Lance's threads do not survive a fork."""
    child = os.fork()
    if not child:
        write(name, folder, table().head(ROWS))
        os._exit(0)
    os.waitpid(child, 0)


def refusal(path: Path) -> str:
    """Return the message of `load_table` about a file."""
    try:
        load_table(path)
    except InvalidDataError as error:
        return str(error)
    return "nothing"


def outcomes(name: str, folder: Path) -> dict[str, int]:
    """Return the outcomes of all damaged files of a kind."""
    kept = folder / "kept"
    kept.mkdir()
    write_in_a_fork(name, kept)
    each = each_outcome_in_a_fork if name in CRASHING else each_outcome
    counts = Counter(each(kept / name, folder / name, range(FILES[name])))
    shutil.rmtree(kept)
    return counts


def main() -> None:
    """Print the outcomes of all kinds as JSON."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="Folder for the damaged files.")
    folder = parser.parse_args().folder
    # Python 3.12 warns of forks beside a library's threads; if one hung, the test would fail.
    warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
    sys.stdout.write(json.dumps({name: outcomes(name, folder) for name in sorted(FILES)}))


if __name__ == "__main__":
    main()
