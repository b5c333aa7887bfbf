"""Process that runs snippets, from which this project cannot be imported.

``python snippet_runner.py JOBS.json`` runs the code of each job, and writes what was read, or the error,
to a file. The data are handed over as files: the code gets the variables that it names.
"""

from __future__ import annotations

import json
import pickle
import sys
import traceback
import warnings
from importlib.abc import MetaPathFinder
from pathlib import Path

PROJECT = (
    "adapter_core array_stores data_formats data_generator format_bench image_storages query_engines \
record_stores tests training_loaders".split()
)


class Blocked(MetaPathFinder):
    """Refuses to import the project."""

    def find_spec(self, name, path=None, target=None):  # noqa: ARG002 (of the protocol)
        if name.partition(".")[0] in PROJECT:
            raise ImportError(f"{name} is not for snippets")


def handed_over(path: Path, given: str) -> dict:
    """Return the variables of a snippet."""
    with path.open("rb") as file:
        found = pickle.load(file)
    if given == "TABLE":
        import pyarrow as pa

        found["table"] = pa.Table.from_pandas(found.pop("df"), preserve_index=False)
    elif given == "POLARS":
        import polars as pl
        import pyarrow as pa

        found["df"] = pl.DataFrame(pa.Table.from_pandas(found["df"], preserve_index=False))
    elif given == "LABELLED":
        import xarray

        found["array"] = xarray.DataArray(found["array"], name="values")
    return found


def plain(value):
    """Return what was read, of Polars and xarray as a type of Arrow and NumPy."""
    if hasattr(value, "to_arrow"):
        return value.to_arrow()
    return value.values if type(value).__name__ == "DataArray" else value


def run(job: dict) -> dict:
    """Write a file, unless there is one, and read it."""
    space = handed_over(Path(job["data"]), job["given"])
    names = {name: each for name, each in space.items() if name == "names"}
    if job["write"]:
        exec(f"{job['imports']}\n{job['write']}", space)
    space = names
    exec(f"{job['imports']}\n{job['read']}", space)
    return {name: plain(space[name]) for name in job["names"]}


def main() -> None:
    sys.meta_path.insert(0, Blocked())
    for job in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")):
        answer = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                answer["read"] = run(job)
            except BaseException:
                answer["error"] = traceback.format_exc()
        Path(job["answer"]).write_bytes(pickle.dumps(answer))


if __name__ == "__main__":
    main()
