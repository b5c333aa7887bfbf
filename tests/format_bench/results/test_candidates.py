"""Names of configurations say which codec a file has, and whether values change."""

from __future__ import annotations

import pandas as pd
import pytest

import data_formats
from adapter_core import UnavailableError
from format_bench.report.model import results_by_suite
from format_bench.results.candidates import Configuration
from format_bench.results.display.text import joined
from format_bench.results.table import result_table, text_table
from tests.factories.records import record, results


@pytest.mark.parametrize(
    ("family", "fields", "name"),
    [
        ("tables", {"format": "Parquet"}, "Parquet, no codec"),
        ("tables", {"format": "Parquet", "settings": "defaults"}, "Parquet, default (snappy)"),
        ("tables", {"format": "Parquet", "codec": "own default"}, "Parquet, default (snappy)"),
        ("tables", {"format": "Parquet", "codec": "zstd", "level": 3}, "Parquet zstd 3"),
        ("tables", {"format": "Parquet", "settings": "recommended"}, "Parquet, recommended (zstd)"),
        ("tables", {"format": "Parquet", "settings": "tuned"}, "Parquet, tuned"),
        ("tables", {"format": "Unknown here", "settings": "recommended"}, "Unknown here, recommended"),
        ("tables", {"format": "Parquet[polars]"}, "Parquet[polars], no codec"),
        ("tables", {"format": "CSV"}, "CSV"),
        ("tables", {"format": "ORC", "threads": "1"}, "ORC on 1 thread"),
        ("images", {"format": "Parquet"}, "Parquet"),
        ("images", {"format": "JPEG"}, "JPEG, lossy"),
        ("arrays", {"format": "GRIB2"}, "GRIB2, lossy"),
        ("arrays", {"format": "HDF5", "codec": "sz3", "level": 10}, "HDF5 sz3 10, lossy"),
        ("arrays", {"format": "Zarr.dir", "settings": "defaults"}, "Zarr.dir, default (zstd)"),
        ("arrays", {"format": "NetCDF4", "track": "paper"}, "NetCDF4 (paper)"),
        ("tables", {"format": "Unknown here"}, "Unknown here"),
        ("", {"format": "Parquet"}, "Parquet"),
    ],
)
def test_the_name_says_codec_and_loss(family, fields, name):
    assert str(Configuration(**fields, family=family)) == name


def test_the_codec_of_a_default_is_in_the_file(tmp_path):
    table = pd.DataFrame({"a": range(1000)})
    adapter = data_formats.get("Parquet").with_defaults()
    adapter.save(table, tmp_path / "t.parquet", adapter.default_codec)
    assert f"({adapter.codec_used(tmp_path / 't.parquet')})" in str(
        Configuration("Parquet", settings="defaults", family="tables")
    )


def test_lists_of_names_with_commas_are_separated_by_semicolons():
    assert joined(["CSV", "ORC", "XML"]) == "CSV, ORC and XML"
    assert joined(["Feather, no codec", "CSV", "XML"]) == "Feather, no codec; CSV and XML"


def test_settings_are_rows_of_one_table_with_their_savings():
    found = results(
        [
            record("Parquet", "size", 4e6),
            record("Parquet", "size", 3e6, settings="defaults"),
            record("CSV", "size", 9e6),
        ]
    )
    ((group,),) = [suite.groups for suite in results_by_suite(found)]
    table = result_table(group)
    assert [str(each) for each, _ in table.rows] == [
        "CSV",
        "Parquet, no codec",
        "Parquet, default (snappy)",
    ]
    assert [cells[-1].text for _, cells in table.rows] == ["-", "-", "0.750"]


def test_a_note_says_what_a_lossy_format_lost():
    facts = {"suite": "image", "rows": 8}
    words = "pixels of 8 of 8 images changed, by up to 30 of 255"
    verified = [record("JPEG", "size", 1e4, **facts), record("PNG", "size", 2e4, **facts)]
    verified += [record("JPEG", "changed images", 8, sentence=words, **facts)]
    verified += [record("PNG", "changed images", 0, **facts)]
    ((group,),) = [suite.groups for suite in results_by_suite(results(verified))]
    shown = text_table("images", result_table(group))
    assert [row[0] for row in shown.rows] == ["JPEG, lossy [1]", "PNG"]
    assert shown.notes == [f"JPEG, lossy: {words}"]
    ((group,),) = [suite.groups for suite in results_by_suite(results(verified[:2]))]
    assert text_table("images", result_table(group)).notes == ["JPEG, lossy: pixels change"]


def test_an_adapter_that_was_unavailable_for_a_moment_is_named_by_its_facts_later(monkeypatch):
    def find(label):
        raise UnavailableError(label, "it is broken", "pip install it")

    with monkeypatch.context() as broken:
        broken.setattr(data_formats.registry, "find", find)
        assert str(Configuration("Feather", family="tables")) == "Feather"
    assert str(Configuration("Feather", family="tables")) == "Feather, no codec"
