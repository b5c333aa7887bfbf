"""Code to paste, run in processes that cannot import this project, for tests."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

import array_stores
import data_formats
import image_storages
import record_stores
from adapter_core import ArraySource, CannotHoldError, RecordSet
from adapter_core.entities import ENTITY, Entity
from adapter_core.tables.arrow import frame_of
from format_bench.instruments import isolation
from format_bench.verification.tables import verify

if TYPE_CHECKING:
    from adapter_core.snippets import Code

RUNNER = Path(__file__).with_name("snippet_runner.py")

PACKAGES = {
    "tables": data_formats,
    "images": image_storages,
    "arrays": array_stores,
    "records": record_stores,
}

COLUMNS = {
    "int64": [1, 2, 2**40],
    "float64": [0.5, -1.25, 1e300],
    "bool": [True, False, True],
    "str": ["a", "\N{LATIN SMALL LETTER E WITH ACUTE}, b", 'c "d"'],
    "int8": [1, -2, 3],
    "float32": [0.5, 1.5, 2.25],
    "datetime64[us]": np.array(
        ["2020-01-02T03:04:05.678", "2021-12-31", "1999-01-01T00:00:01"], "datetime64[us]"
    ),
    "category": ["x", "y", "x"],
    "Int64": [1, None, 3],
}
"""Values of a column of each dtype that code has caveats on."""

NAMES = {"Int64": "nullable", "datetime64[us]": "time"}
"""Plain names of columns that would differ in case alone, or in more than letters."""

ALONE = ("h5netcdf", "h5py", "netCDF4", "tensorstore", "tiledb", "xarray", "zarr")
"""Modules whose code, and adapters, have processes of their own, for their own HDF5 libraries."""

CHUNKS, SHARDS = (2, 16, 16), (4, 16, 16)
LARGEST_ERROR = 0.2


class Case(NamedTuple):
    """Configuration whose code is run."""

    family: str
    label: str
    codec: str | None = None

    @property
    def adapter(self) -> Any:
        return PACKAGES[self.family].find(self.label)

    @property
    def unavailable(self) -> str:
        """The reason why it cannot be run here; empty if it can."""
        answer = self.adapter.availability()
        if answer and self.codec:
            answer = self.adapter.codec_availability(self.codec)
        return answer.reason

    @property
    def is_lossy(self) -> bool:
        adapter = self.adapter
        return bool(
            getattr(adapter, "error", None)
            or getattr(adapter, "changes_pixels", False)
            or (self.codec and adapter.codec_named(self.codec).error)
        )

    @property
    def is_alone(self) -> bool:
        """Whether its library may fail in a process that has loaded another HDF5 library."""
        return any(name in self.adapter.snippet.imports for name in ALONE)

    def code(self, folder: Path) -> Code:
        path = str(folder / f"data{self.adapter.suffix}")
        found = self.adapter.code(self.codec, None, path)
        assert found is not None
        return found

    def __str__(self) -> str:
        return " ".join(filter(None, [self.family, self.label, self.codec]))


class Outcome(NamedTuple):
    """What the code of a case gave."""

    data: dict[str, Any]
    folder: Path
    read: dict[str, Any] | None
    error: str
    of_adapters_file: dict[str, Any] | None
    """What it read from the adapter's own file."""


def table(adapter: Any, only: str = "", without: Iterable[str] = ()) -> pd.DataFrame:
    """Return a table with a column of each dtype that the adapter accepts, or of one."""
    found = {}
    for dtype, values in {only: COLUMNS[only]}.items() if only else COLUMNS.items():
        column = pd.Series(values, dtype=dtype)
        try:
            adapter.check(pd.DataFrame({NAMES.get(dtype, dtype): column}))
        except CannotHoldError:
            continue
        if dtype not in without:
            found[NAMES.get(dtype, dtype)] = column
    return pd.DataFrame(found)


def data_for(case: Case) -> dict[str, Any]:
    """Return the variables of the code of a case."""
    generator = np.random.default_rng(0)
    if case.family == "tables":
        return {"df": table(case.adapter, without=case.adapter.snippet.lacks)}
    if case.family == "images":
        # Smooth, since lossy codecs keep noise badly.
        ramp = np.linspace(0, 200, 12 * 8 * 3).astype("uint8").reshape(12, 8, 3)
        return {"images": [ramp + number for number in range(3)], "labels": np.array([3, 0, 7])}
    if case.family == "arrays":
        array = (generator.integers(0, 37, (4, 16, 16))).astype("float32")
        return {"array": array, "chunks": CHUNKS, "shards": SHARDS}
    rows = [[*map(int, generator.integers(0, 9, 5)), *"abcd", "e\N{SNOWMAN}"] for _ in range(3)]
    records = [dict(zip(ENTITY.names, row, strict=True)) for row in rows]
    return {"records": records, "names": list(ENTITY.names)}


def called(case: Case, step: Callable[..., Any], *arguments: Any) -> Any:
    """Call a step on a label of an array store, in a fresh process if its library needs one."""
    if not case.is_alone:
        return step(case.label, *arguments)
    outcome = isolation.run(step, case.label, *arguments, limit_seconds=60)
    if outcome.status:
        raise RuntimeError(outcome.sentence)
    return outcome.value


def _save_array(label: str, array: np.ndarray, path: Path, options: dict[str, str]) -> None:
    array_stores.find(label).save(ArraySource.of(array, CHUNKS), path, **options)


def _read_array(label: str, path: Path) -> np.ndarray:
    return np.asarray(array_stores.find(label).read(path))


def save(case: Case, data: dict[str, Any], path: Path) -> None:
    """Write a file by the adapter."""
    adapter, options = case.adapter, {"codec": case.codec} if case.codec else {}
    if case.family == "tables":
        adapter.save(data["df"], path, **options)
    elif case.family == "images":
        adapter.save(data["images"], data["labels"], path)
    elif case.family == "arrays":
        called(case, _save_array, data["array"], path, options)
    else:
        objects = [Entity(**record) for record in data["records"]]
        adapter.save(RecordSet.of_objects(ENTITY, objects), path, **options)


def read(case: Case, path: Path) -> dict[str, Any]:
    """Read a file by the adapter, into the variables of the code."""
    adapter = case.adapter
    if case.family == "tables":
        return {"df": adapter.read(path)}
    if case.family == "images":
        return dict(zip(("images", "labels"), adapter.read(path), strict=True))
    if case.family == "arrays":
        return {"array": called(case, _read_array, path)}
    plain = adapter.plain(ENTITY)
    rows = [plain(each) for each in adapter.read(path)]
    return {"records": [dict(zip(ENTITY.names, row, strict=True)) for row in rows]}


def difference(case: Case, data: dict[str, Any], found: dict[str, Any]) -> str:
    """Return what is wrong in what was read; empty if every value is right."""
    if case.family == "tables":
        return "; ".join(verify(data["df"], frame(found), *case.adapter.kept).errors)
    if case.family == "records":
        return "" if found["records"] == data["records"] else "records differ"
    if case.family == "images" and list(found["labels"]) != list(data["labels"]):
        return "labels differ"
    pairs = (
        zip(data["images"], found["images"], strict=True)
        if case.family == "images"
        else [(data["array"], np.asarray(found["array"]))]
    )
    for before, after in pairs:
        if before.shape != after.shape:
            return f"{before.shape} came back as {after.shape}"
        largest = 8 if case.family == "images" else LARGEST_ERROR
        error = np.abs(before.astype(float) - after.astype(float)).max()
        if error > (largest if case.is_lossy else 0):
            return f"values differ by {error}"
    return ""


def frame(found: dict[str, Any]) -> pd.DataFrame:
    """Return a table that was read, as a DataFrame."""
    value = found.get("df", found.get("table"))
    return value if isinstance(value, pd.DataFrame) else frame_of(value.replace_schema_metadata())


def changed_dtypes(before: pd.DataFrame, after: pd.DataFrame) -> dict[str, str]:
    """Return the dtypes that came back as others, each with the other."""
    pairs = zip(map(str, before.dtypes), map(str, after.dtypes), strict=True)
    return {one: other for one, other in pairs if one != other}


def run_all(
    cases: Iterable[Case], folder: Path, data_of: Callable[[Case], dict[str, Any]] = data_for
) -> dict[Case, Outcome]:
    """Run the code of cases, of most libraries in one process, each with its own imports alone."""
    jobs: dict[str, list[dict[str, Any]]] = defaultdict(list)
    prepared = {}
    for number, case in enumerate(cases):
        places = [folder / f"{number}.{what}" for what in ("code", "adapter")]
        data = data_of(case)
        for place in places:
            place.mkdir(parents=True)
            code = case.code(place)
            (place / "given").write_bytes(pickle.dumps(data))
            job = {"imports": code.imports, "write": code.write, "read": code.read}
            job |= {"given": code.given.name, "names": code.given.read_back}
            job |= {"data": str(place / "given"), "answer": str(place / "answer")}
            if place is not places[0]:
                save(case, data, place / f"data{case.adapter.suffix}")
                job["write"] = ""
            jobs[code.imports if case.is_alone else ""].append(job)
        prepared[case] = (data, *places)
    # Set by netCDF4-python for its own HDF5 library, of which h5py's knows nothing.
    environment = {name: value for name, value in os.environ.items() if name != "HDF5_PLUGIN_PATH"}
    for each in jobs.values():
        (folder / "jobs.json").write_text(json.dumps(each), encoding="utf-8")
        command = [sys.executable, RUNNER, folder / "jobs.json"]
        subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    return {case: _outcome(*found) for case, found in prepared.items()}


def _outcome(data: dict[str, Any], own: Path, adapters: Path) -> Outcome:
    answers = [pickle.loads((place / "answer").read_bytes()) for place in (own, adapters)]
    first, second = answers
    return Outcome(data, own, first.get("read"), first.get("error", ""), second.get("read"))
