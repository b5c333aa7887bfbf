"""`format-bench show RESULTS --cell`: facts of a cell, and scripts that give its values again."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

from format_bench.cli.main import main
from format_bench.metadata import libraries
from format_bench.recommendation.script import LONGEST
from format_bench.results import cells
from format_bench.results.load import load
from tests.factories import snippets

TABLES = "CSV,Feather,Parquet,Parquet[polars],Iceberg"

RUNS = {
    "tabular": ["--rows", "300", "--datasets", "core", "--formats", TABLES],
    "image": ["--rows", "12", "--formats", "NumPy,PNG"],
    "chunks": ["--rows", "2", "--formats", "HDF5,NPY.memmap"],
    "records": ["--rows", "200", "--datasets", "entities", "--formats", "JSON[orjson],Parquet"],
}

SIZES = [
    "tabular/core/CSV/size",
    "tabular/core/Feather, no codec/size",
    "tabular/core/Parquet, no codec/size",
    "tabular/core/Parquet, default (snappy)/size",
    "image/cifar-like/PNG/files",
    "records/entities/JSON[orjson]/size",
]
"""Cells whose files have the same bytes as the adapters'."""

TIMES = [
    "tabular/core/CSV/save_time",
    "tabular/core/Parquet[polars], no codec/read_time",
    "image/cifar-like/NumPy/read_time",
    "chunks/era5-small/NPY.memmap/read_time",
]

# Runs the script in the working directory, where this project cannot be imported.
ALONE = """
import runpy, sys
sys.path.insert(0, sys.argv[1])
from snippet_runner import Blocked
sys.meta_path.insert(0, Blocked())
try:
    import adapter_core
except ImportError:
    runpy.run_path("script.py", run_name="__main__")
"""


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


class Answer(NamedTuple):
    """What a script printed."""

    value: float
    of_record: float


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Return the folder of results of each suite."""
    folder = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(libraries, "facts_from_child", lambda *_: {})
        for suite, options in RUNS.items():
            # The median of a few: a single sample on a busy machine was 30 times that of its script.
            steps = ["--steps", "save,read", "--repeats", "5"]
            with pytest.raises(SystemExit) as ended:
                main(["run", "--suite", suite, *options, *steps, "--out", str(folder / suite)])
            assert not ended.value.code
    return folder


@pytest.fixture
def call(capfd):
    """Call the command in this process; return its exit status and output."""

    def call(*arguments: object) -> Done:
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([*map(str, arguments)])
        said = capfd.readouterr()
        return Done(ended.value.code or 0, said.out, said.err)

    return call


@pytest.fixture
def answer(measured, tmp_path, call):
    """Write the script of a cell, run it on its own, and return what it printed."""

    def answer(cell: str) -> Answer:
        results = measured / cell.partition("/")[0]
        done = call("show", results, "--cell", cell, "--out", tmp_path)
        assert done.returncode == 0, done.stderr
        assert len((tmp_path / "script.py").read_text(encoding="utf-8").splitlines()) <= LONGEST
        command = [sys.executable, "-c", ALONE, str(snippets.RUNNER.parent)]
        said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        found = re.fullmatch(r"[\w ]+: ([\d.e-]+).*; the record has ([\d.e-]+).*\n", said)
        assert found, said
        record = cells.find(load(results).records, cell)
        assert float(found[2]) == pytest.approx(record.value, rel=1e-5)
        return Answer(*map(float, found.groups()))

    return answer


@pytest.mark.parametrize("cell", SIZES)
def test_a_script_writes_a_file_of_the_same_size(answer, cell):
    found = answer(cell)
    assert found.value == found.of_record


@pytest.mark.parametrize("cell", TIMES)
def test_a_script_takes_a_time_like_the_record(answer, cell):
    found = answer(cell)
    # A busy machine moves both; a call of something else, or of nothing, would be far off.
    assert found.of_record / 20 < found.value < 20 * found.of_record + 0.05


def test_a_script_is_printed_with_the_command_that_makes_its_data(measured, call):
    done = call("show", measured / "tabular", "--cell", "tabular/core/CSV/size", "--script")
    assert f"# the data: format-bench show {measured}/tabular --cell tabular/core/CSV/size --out ." in (
        done.stdout
    )
    assert "df = pd.read_csv(" not in done.stdout
    assert 'df.to_csv("data.csv", index=False' in done.stdout


def test_facts_of_a_cell(measured, call):
    done = call("show", measured / "tabular", "--cell", "tabular/core/CSV/read_time")
    text = " ".join(done.stdout.split())
    assert re.search(r"median of \d samples", text)
    assert "conditions cache warm, threads all" in text
    assert "script --script prints it" in text


def test_every_measured_cell_has_a_name_of_its_own(measured):
    for suite in RUNS:
        found = load(measured / suite).records
        assert len(cells.by_name(found)) == len(found)


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        (
            "tabular/core/Parqet, no codec/size",
            "no format in tabular/core 'Parqet, no codec'; did you mean Parquet, no codec",
        ),
        ("tabular/core/CSV/read_tim", "did you mean read_time"),
        ("tabulr/core/CSV/size", "no suite 'tabulr'; did you mean tabular?"),
        ("CSV", "a cell is named SUITE/DATA/FORMAT/METRIC, e.g. "),
        ("tabular/core/CSV/held_memory", "has no script: scripts measure save time, "),
        (
            "tabular/core/Iceberg, no codec/size",
            "has no script: Iceberg has no code to paste: tables are",
        ),
    ],
)
def test_what_has_no_script_says_why(measured, tmp_path, call, cell, sentence):
    done = call("show", measured / "tabular", "--cell", cell, "--out", tmp_path / "again")
    assert done.returncode == 2
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "again").exists()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--script"], "name it by --cell"),
        ([], "of results, name a cell: --cell SUITE/DATA/FORMAT/METRIC"),
        (["--cell", "tabular/core/CSV/size", "--code"], "--script is the code of a cell"),
        (["--cell", "tabular/core/CSV/size", "--data", "my.csv"], "core is generated"),
    ],
)
def test_results_and_formats_are_told_apart(measured, call, options, sentence):
    done = call("show", measured / "tabular", *options)
    assert done.returncode == 2
    assert sentence in done.stderr


@pytest.mark.usefixtures("libraries_unasked")
def test_a_script_reads_the_users_own_table(tmp_path, call):
    table = pd.DataFrame({"a": np.arange(50), "b": [f"text {n}" for n in range(50)]})
    table.to_csv(tmp_path / "mine.csv", index=False)
    own = ["--data", tmp_path / "mine.csv"]
    done = call(
        "run", *own, "--formats", "Pickle", "--repeats", 1, "--steps", "save", "--out", tmp_path / "out"
    )
    assert done.returncode == 0, done.stderr
    show: list[Any] = ["show", tmp_path / "out", "--cell", "tabular/mine/Pickle/size"]
    assert "name the file by --data" in call(*show, "--out", tmp_path / "again").stderr
    done = call(*show, *own, "--out", tmp_path / "again")
    assert done.returncode == 0, done.stderr
    assert pd.read_parquet(tmp_path / "again" / "mine-50.parquet").equals(table)
