"""`format-bench show`: facts of a format, code to paste, and the page of all code."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from format_bench.cli.commands import show
from tests.commands import run
from tests.helpers import ROOT


def shown(*arguments):
    return CliRunner().invoke(show.command, arguments, catch_exceptions=False)


def test_code_of_a_format_with_its_other_engines():
    text = shown("Parquet", "--code", "--codec", "zstd:3").output
    assert 'compression="zstd", compression_level=3' in text
    assert "df = pd.read_parquet(" in text
    assert "# by other libraries: Parquet[duckdb], Parquet[fastparquet], Parquet[polars]" in text
    assert text == shown("Parquet", "--code", "--codec", "zstd", "--level", "3").output


def test_a_family_can_be_chosen():
    assert "pq.write_table" in shown("Parquet", "--code", "--family", "images").output
    assert "import h5py" in shown("HDF5", "--code", "--family", "arrays").output


def test_the_settings_card_is_among_the_facts():
    text = " ".join(shown("Parquet").output.split())
    assert "saves with no codec" in text
    assert "its makers advise zstd as a balance" in text
    assert "https://docs.rs/parquet/latest/parquet/basic/enum.Compression.html" in text
    assert 'saves by df.to_parquet("data.parquet", engine="pyarrow", compression=None' in text
    assert "reads by df = pd.read_parquet(" in text
    assert "its makers advise no recommendation found" in " ".join(shown("PNG").output.split())


def test_missing_values_of_questions_are_among_the_facts():
    assert "NaN in a column of floats" in shown("Parquet[datafusion]").output
    assert "missing values" not in shown("Parquet").output


def test_facts_of_a_format():
    text = " ".join(shown("ORC").output.split())
    assert "the library's default no codec" in text
    assert "unsigned integers" in text.partition("cannot hold")[2]
    assert "Int64 as float64" in text.partition("comes back changed")[2]
    assert "codecs none" in " ".join(shown("PNG").output.split())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "name a format"),
        (("Parque",), "did you mean Parquet"),
        (("Iceberg", "--code"), "Iceberg has no code to paste: "),
        (("PNG", "--code", "--codec", "zstd"), "PNG has no codecs"),
        (("Parquet", "--code", "--codec", "zstd:99"), "levels 1 to 22, not 99"),
        (("Parquet", "--code", "--codec", "zstd:3", "--level", "4"), "both give a level"),
    ],
)
def test_bad_input_is_one_line(arguments, sentence):
    done = run("show", *arguments)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_page_is_current():
    page = (ROOT / "docs" / "code.md").read_text(encoding="utf-8")
    assert page == shown("--markdown").output, "format-bench show --markdown > docs/code.md"
