"""Start of the program: help, lists and completions come without the libraries of formats."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.helpers import ROOT

HEAVY = {
    "dask",
    "duckdb",
    "h5py",
    "matplotlib",
    "numpy",
    "pandas",
    "polars",
    "pyarrow",
    "scipy",
    "tables",
}

TRACED = """
import json, os, sys
from format_bench.cli.main import main
try:
    main(json.loads(sys.argv[1]))
finally:
    print(*{name.partition(".")[0] for name in sys.modules}, file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--help"], "recommend"),
        (["run", "--help"], "--time-budget"),
        (["recommend", "--help"], "--preset"),
        (["list"], "installed"),
        (["list", "codecs"], "zstd"),
        (["list", "datasets"], "webface"),
    ],
    ids=" ".join,
)
def test_nothing_heavy_is_imported(arguments, words):
    command = [sys.executable, "-c", TRACED, json.dumps(arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert words in done.stdout
    assert HEAVY & set(done.stderr.split()) == set()


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("run --formats CSV,Parq", "CSV,Parquet[polars]"),
        ("run --suite comp", "compression"),
        ("run --datasets web", "webface"),
        ("run --steps sa", "save"),
        ("run --tracks tu", "tuned"),
        ("list data", "datasets"),
        ("recommend --weight read_t", "read_time="),
        ("recommend --preset arch", "archive"),
        ("recommend --require saf", "safe"),
        ("recommend --under memory", "memory-limit="),
        ("recommend --dataset web", "webface"),
        ("show Vort", "Vortex"),
        ("plan --stores Zarr.di", "Zarr.dir"),
        ("rec", "recommend"),
    ],
)
def test_a_shell_completes_commands_and_values(typed, found, monkeypatch):
    monkeypatch.setenv("_FORMAT_BENCH_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", f"format-bench {typed}")
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split())))
    command = [sys.executable, "-m", "format_bench"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert f"plain,{found}" in done.stdout.splitlines()
