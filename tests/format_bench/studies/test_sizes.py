"""The study of sizes: sizes in bytes, and ranks."""

from __future__ import annotations

import pandas as pd

from format_bench.results.candidates import Configuration
from format_bench.studies import sizes
from tests.helpers import run


def test_sizes_are_those_of_files_and_refusals_are_sentences(tmp_path):
    df = pd.DataFrame({"c": pd.Categorical(["a", "b"])})
    found = sizes.sizes(df, (Configuration("Parquet", "zstd"), Configuration("ORC")))
    df.to_parquet(tmp_path / "t.parquet", compression="zstd", compression_level=1, index=False)
    assert found[Configuration("Parquet", "zstd")] == (tmp_path / "t.parquet").stat().st_size
    assert found[Configuration("ORC")].startswith("ORC cannot store this table")
    assert sizes.places({**found, Configuration("CSV"): 3}) == {
        Configuration("CSV"): 1,
        Configuration("Parquet", "zstd"): 2,
    }


def test_the_page_of_sizes_has_a_row_for_each_format():
    page = list(sizes.page(["eq", "core"], rows=200))
    assert page[0] == "| format | eq, MB | place | core, MB | place |"
    assert len(page) == 2 + len(sizes.CONFIGURATIONS)
    places = sorted(int(row.split("|")[3]) for row in page[2:])
    assert places == list(range(1, len(sizes.CONFIGURATIONS) + 1))


def test_the_command_prints_the_page():
    done = run("study", "sizes", "eq", "--rows", 100)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("| format | eq, MB | place |\n")
    assert run("study", "sizes", "eqq").stderr.startswith("format-bench: there is no table 'eqq'")
