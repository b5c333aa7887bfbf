"""Code to paste for configurations: codecs, settings, and the cases without any."""

from __future__ import annotations

import pytest

from format_bench.recommendation.code import code_of
from format_bench.results.candidates import OWN_DEFAULT, Configuration


def code(label, family="tables", **facts):
    return code_of(Configuration(label, family=family, **facts))


def test_it_has_the_codec_and_the_level():
    assert 'compression="zstd", compression_level=7' in code("Parquet", codec="zstd", level=7)
    assert "compression=None" in code("Parquet")
    assert "import h5py" in code("HDF5", "arrays", codec="gzip", level=4)
    assert "from PIL import Image" in code("PNG", "images")


@pytest.mark.parametrize(
    "facts", [{"settings": "defaults"}, {"codec": OWN_DEFAULT}, {"track": "defaults"}]
)
def test_defaults_are_those_of_the_library(facts):
    assert 'compression="snappy"' in code("Parquet", **facts)
    assert "uncompressed" not in code("Parquet[polars]", **facts)


def test_recommended_settings_are_options():
    assert 'compression="zstd", compression_level=1' in code("Parquet", settings="recommended")
    assert "write_page_index=True" in code("Parquet", settings="recommended")
    assert '"dictionary_key_size_threshold": 0.8' in code("ORC", settings="recommended")
    assert "VortexWriteOptions.compact().write(" in code("Vortex", settings="recommended")
    assert "COMPRESSION" not in code("Parquet[duckdb]", settings="defaults")
    assert 'libver="latest"' in code("HDF5", "arrays", settings="recommended")


@pytest.mark.parametrize(
    ("label", "facts"),
    [
        ("Ours", {}),
        ("Parquet", {"family": "none"}),
        ("Parquet", {"codec": "nonesuch"}),
        ("Parquet", {"settings": "tuned"}),
        ("Parquet", {"track": "paper"}),
        ("Iceberg", {}),
        ("CSV", {"settings": "recommended"}),
    ],
)
def test_it_is_empty_without_code(label, facts):
    assert code(label, **facts) == ""
