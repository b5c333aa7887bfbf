"""Settings cards: of each adapter, in words, and beside files."""

from __future__ import annotations

import re

import pytest

import array_stores
import data_formats
from adapter_core import FileFacts, UnavailableError
from format_bench.conformance.cards import differences
from format_bench.conformance.footers import told_by
from format_bench.conformance.tables import repetitive
from format_bench.families.operations import registry_of
from format_bench.recommendation.card import card, text_of
from format_bench.results.candidates import OWN_DEFAULT, Configuration
from format_bench.results.suites import FAMILIES

ADAPTERS = [(name, label) for name, each in FAMILIES.items() for label in registry_of(each).names()]


def found(family, label):
    try:
        return registry_of(FAMILIES[family]).find(label)
    except UnavailableError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize(("family", "label"), ADAPTERS)
def test_every_adapter_has_a_card(family, label):
    adapter = found(family, label)
    shown = card(adapter)
    assert shown["saves with"]
    assert shown["the library's default"]
    assert "files tell" in shown or "files tell nothing" in shown or not adapter.file_facts.version
    assert all("\n" not in text and not text.endswith(".") for text in shown.values())
    advice = shown["its makers advise"]
    assert advice == "no recommendation found" or re.search(
        r"\(https://\S+, (https://\S+, )?\d{4}-\d\d-\d\d\)$", advice
    )
    if getattr(adapter, "has_advice", False):
        assert card(adapter, "recommended")["saves with"] != shown["saves with"]


def test_a_pair_with_an_environment_has_the_version_that_its_library_writes():
    names = "DuckDB[duckdb]", "DuckDB[vss]"
    own, older = (card(registry_of(FAMILIES["queries"]).find(label)) for label in names)
    assert own.pop("files tell") == "version 999"
    assert older.pop("files tell") == "version 64"
    assert own == older


def test_a_card_says_which_settings_a_configuration_has():
    parquet = data_formats.find("Parquet")
    usual = card(parquet)
    assert usual["saves with"] == "no codec"
    assert usual["the library's default"] == "snappy"
    assert usual["why not the default"].startswith("no codec, so that formats are compared")
    assert "row group: up to 1,048,576 rows" in usual["files tell"]
    assert "rows sorted" in usual["tuned"]
    advised = card(parquet, "recommended")
    assert advised["saves with"] == "zstd, row_group_size=122880, write_page_index=True"
    assert "row group: up to 122,880 rows" in advised["files tell"]
    assert "why not the default" not in card(parquet, "defaults")
    assert card(parquet, codec="zstd", level=3)["saves with"] == "zstd 3"
    assert card(data_formats.find("Parquet[polars]"), "defaults")["saves with"] == "nothing set"
    assert "files tell nothing" in card(data_formats.find("CSV"))
    assert card(array_stores.find("NPY.memmap"))["reads"] == "map the file"


def test_loaders_have_the_advice_of_their_makers():
    advice = card(found("training", "WebDataset"))["its makers advise"]
    assert advice.startswith("shards shuffled, then samples (https://github.com/webdataset")


def test_engines_have_the_card_of_the_files_that_they_read():
    engines = registry_of(FAMILIES["queries"])
    label = next(each for each in engines.names() if each.startswith("Parquet["))
    assert card(engines.find(label))["saves with"] == "snappy"


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"settings": "defaults"}, "saves with: snappy"),
        ({"codec": OWN_DEFAULT}, "saves with: snappy"),
        ({"codec": "zstd", "level": 3}, "saves with: zstd 3"),
        ({"settings": "recommended"}, "page index: yes"),
    ],
)
def test_the_text_is_that_of_the_configuration(fields, line):
    assert line in text_of(Configuration("Parquet", family="tables", **fields))


@pytest.mark.parametrize(
    "facts",
    [
        {"format": "Ours", "family": "tables"},
        {"format": "Parquet", "family": "none"},
        {"format": "Parquet", "family": "tables", "settings": "tuned"},
        {"format": "Parquet", "family": "tables", "track": "paper"},
        {"format": "CSV", "family": "tables", "settings": "recommended"},
    ],
)
def test_it_is_empty_where_it_is_not_known(facts):
    assert text_of(Configuration(**facts)) == ""


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (FileFacts(version="1.0"), "version: the card says 1.0, the file 2.6"),
        (
            FileFacts(version="2.6", parts={"row group": 100}),
            "row group: the card says 100, the file 400",
        ),
        (FileFacts(version="2.6", parts={"page index": "yes"}), "page index: the card says yes"),
        (FileFacts(version="2.6", parts={"stripes": "2"}), "stripes: the card says 2, the file None"),
        (FileFacts(silent="nobody knows"), "the file tells {'codec'"),
    ],
)
def test_a_card_that_says_something_else_than_the_file_is_found(facts, words, tmp_path):
    class Lying(type(data_formats.find("Parquet"))):
        file_facts = facts

    path = tmp_path / "t.parquet"
    Lying().save(repetitive(), path)
    assert words in differences(Lying(), "", path, len(repetitive()))


def test_another_codec_than_the_card_says_is_found(tmp_path):
    adapter, path = data_formats.find("Parquet"), tmp_path / "t.parquet"
    adapter.save(repetitive(), path, "zstd")
    assert "codec: the card says none, the file zstd" in differences(adapter, "", path, 400)
    assert "codec: the card says snappy" in differences(adapter, "defaults", path, 400)


@pytest.mark.parametrize("codec", ["snappy", "zlib", "zstd", None])
@pytest.mark.parametrize("threshold", [0.0, 0.8])
def test_dictionaries_of_orc_are_seen_under_any_codec(codec, threshold, tmp_path):
    path = tmp_path / "t.orc"
    options = {"dictionary_key_size_threshold": threshold}
    repetitive().to_orc(path, engine_kwargs={**({"compression": codec} if codec else {}), **options})
    told = told_by(path)
    assert told["dictionaries"] == ("yes" if threshold else "no")
    assert told["codec"] == (codec or "none")


def test_a_file_of_unknown_kind_tells_nothing(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    assert told_by(path) == {}
    assert told_by(tmp_path) == {}


@pytest.mark.parametrize("checksum", [b"\x80\x41", b"PAR1", b"\x28\xb5\x2f\xfd"])
def test_a_file_of_duckdb_is_known_whatever_its_checksum(checksum, tmp_path):
    path = tmp_path / "t.duckdb"
    header = checksum.ljust(8, b"\0") + b"DUCK" + (64).to_bytes(8, "little")
    path.write_bytes(header.ljust(4096, b"\0"))
    assert told_by(path) == {"version": "64"}
