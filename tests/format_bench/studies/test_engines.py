"""The page that recommends an engine for each format."""

from __future__ import annotations

import re

import pytest

from adapter_core.errors import InvalidResultsError
from format_bench.results import export
from format_bench.studies.declared import study
from format_bench.studies.tables.engines_of_formats import by_format, format_of
from tests.commands import run
from tests.factories.records import results_of

SECONDS = {
    "CSV": {"save time": 4.0, "read time": 2.0, "size": 1e6},
    "CSV[polars]": {"save time": 1.0, "read time": 2.0, "size": 1e6},
    "CSV[duckdb]": {"save time": 2.0, "read time": 8.0, "size": 2e6},
    "Pickle": {"save time": 0.1, "read time": 0.1, "size": 3e6},
}


def page(found):
    return study.read("engines").page(found).markdown()


@pytest.mark.parametrize(
    ("label", "name"),
    [("CSV", "CSV"), ("CSV[polars]", "CSV"), ("HDF5.table", "HDF5"), ("ROOT.TTree[ROOT]", "ROOT")],
)
def test_a_label_names_its_format(label, name):
    assert format_of(label) == name


def test_only_formats_of_several_engines_are_compared():
    (family,) = by_format(results_of(SECONDS))
    assert family.name == "CSV"
    assert [str(entry) for entry in family.configurations] == ["CSV", "CSV[duckdb]", "CSV[polars]"]


def test_the_best_engine_is_named_and_the_others_are_times_as_large():
    text = page(results_of(SECONDS))
    assert "| CSV | 3 | CSV[polars] | " in text
    assert "Fastest to save: CSV[polars]" in text
    assert "Measured on eq, of 50,000 rows." in text
    (row,) = re.findall(r"^\| CSV\[duckdb\] .*$", text, re.MULTILINE)
    assert [cell.strip() for cell in row.split("|")[2:6]] == ["2.00", "-", "-", "2.00"]
    assert "Pickle" not in text


def test_engines_are_measured_in_a_suite_of_their_own_and_compared_with_the_usual_one():
    usual = results_of({"CSV": SECONDS["CSV"]}, suite="tabular.Tabular").records
    other = results_of({"CSV[polars]": SECONDS["CSV[polars]"]}, suite="engines.Engines").records
    both = results_of({})
    both.records.extend([*usual, *other])
    (family,) = by_format(both)
    assert len(family.configurations) == 2
    assert len(family.groups) == 1


def test_results_without_engines_are_refused(tmp_path):
    with pytest.raises(InvalidResultsError, match="holds no format with several engines"):
        page(results_of({"CSV": SECONDS["CSV"]}))
    export.export(results_of({"CSV": SECONDS["CSV"]}).records, tmp_path / "records.jsonl")
    for place, words in ((tmp_path, "no format with several engines"), ("nowhere", "no results at")):
        done = run("study", "engines", place)
        assert done.returncode == 2
        assert words in done.stderr
        assert done.stderr.count("\n") == 1
