"""Environments of records: which versions count, what differs, and values of several of them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from format_bench.comparison import compare
from format_bench.metadata import libraries
from format_bench.report import page
from format_bench.report.model import outline_of
from format_bench.report.writers.markdown import markdown_page
from format_bench.results import environments, records
from format_bench.results.load import RESULTS, load
from tests.factories.records import record, results

NEW = "CPython 3.13.1, measurement 4, numpy 2.4.6, pandas 3.1.1, pyarrow 26.0.1"
OLD = "CPython 3.11.7, measurement 4, numpy 2.4.6, pandas 3.1.1, pyarrow 19.0.0"


def test_the_libraries_of_an_adapter_count_and_no_others():
    found = libraries.environment("Excel", "tabular")
    assert found.startswith("CPython 3.")
    assert ", measurement " in found
    for name in ("numpy", "pandas", "pyarrow", "openpyxl", "fastexcel"):
        assert (f", {name} " in found) is (name in environments.libraries_of("Excel", "tabular")), name
    assert "lxml" not in found
    assert "polars" in libraries.environment("Parquet[polars]", "query.QueryRead")
    assert "numpy" in libraries.environment("a format of nobody", "a suite of nobody")


def test_what_is_not_installed_is_left_out():
    versions = {"pandas": "3.1.1", "lxml": None}
    found = environments.described("XML", "tabular", "CPython 3.11.7", versions.get, 4)
    assert found == "CPython 3.11.7, measurement 4, pandas 3.1.1"
    installed = environments.described(
        "XML", "tabular", "CPython 3.11.7", (versions | {"lxml": "6.0"}).get, 4
    )
    assert environments.differences(found, installed) == {"lxml": ("", "6.0")}


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (NEW, NEW, {}),
        ("", NEW, {}),
        (NEW, "", {}),
        (OLD, NEW, {"Python": ("3.11.7", "3.13.1"), "pyarrow": ("19.0.0", "26.0.1")}),
        (NEW.replace("measurement 4", "measurement ?"), NEW, {}),
        (NEW.replace("measurement 4", "measurement 3"), NEW, {"measurement": ("3", "4")}),
        (NEW.replace("CPython", "PyPy"), NEW, {"Python": ("PyPy 3.13.1", "3.13.1")}),
    ],
)
def test_differences(one, other, expected):
    assert environments.differences(one, other) == expected


def test_differences_in_words():
    found = environments.differences(OLD + ", lxml 6.0", NEW)
    assert environments.in_words(found) == (
        "Python 3.11.7, now 3.13.1; pyarrow 19.0.0, now 26.0.1; lxml 6.0, now missing"
    )


def test_old_records_get_the_environment_that_their_metadata_name(tmp_path):
    old = record("CSV", "size", 1, run_id="a")
    facts = {
        "started": "2026-01-01",
        "python": {"implementation": "CPython", "version": "3.11.7 (main) [GCC]"},
        "libraries": {"numpy": "2.0", "pandas": "2.2", "lxml": None},
    }
    (tmp_path / "a-threads-all.json").write_text(json.dumps(facts))
    (tmp_path / "b-threads-all.json").write_text('{"python": 3}')
    (tmp_path / "c-threads-all.json").write_text("{")
    kept = [replace(old, run_id=name) for name in "bcd"] + [replace(old, environment=NEW)]
    for each in (old, *kept):
        records.append(tmp_path / RESULTS, replace(each, rows=ord(each.run_id) + len(each.environment)))
    first, *others = load(tmp_path).records
    assert first.environment == (
        "CPython 3.11.7, measurement ?, numpy 2.0, pandas 2.2, pyarrow ?, zstandard ?"
    )
    assert [each.environment for each in others] == ["", "", "", NEW]


def test_a_report_says_at_its_top_that_values_are_of_several_environments():
    new = record("CSV", "size", 1, environment=NEW)
    failed = record("XML", "size", None, environment="CPython 3.12.0, measurement 4")
    old = record("Parquet", "size", 2, environment=OLD)
    assert environments.mixture([new, failed]) == ""
    sentence = environments.mixture([new, failed, old])
    assert sentence == (
        "Values of several environments, which do not compare: Python 3.11.7 and 3.13.1; "
        "pyarrow 19.0.0 and 26.0.1."
    )
    mixed = results([new, failed, old])
    assert outline_of(mixed).mixture == sentence
    for text, verdict in (
        (page(mixed), '<h2 id="verdict-title">'),
        (markdown_page(mixed), "## Verdict"),
    ):
        assert text.index("Values of several environments") < text.index(verdict)
    one = results([new], name="one")
    assert f"B holds v{sentence[1:-1]}" in compare(one, mixed).caveats
    assert "Values of several" not in page(results([new, failed]))


def test_versions_of_measurements_are_those_of_one_suite():
    images = record("TIFF", "size", 1, suite="image", environment=NEW.replace("ment 4", "ment 3"))
    tables = record("CSV", "size", 1, environment=NEW)
    assert environments.mixture([images, tables]) == ""
    older = replace(tables, format="XML", environment=NEW.replace("ment 4", "ment 3"))
    assert "tabular measurement 3 and 4" in environments.mixture([images, tables, older])


def test_values_of_an_unknown_environment_are_counted():
    known, unknown = record("CSV", "size", 1, environment=NEW), record("XML", "size", 1)
    assert environments.mixture([known, unknown]) == "The environment of 1 value is not known."
    assert environments.mixture([unknown]) == ""


def test_environments_of_adapters_own_are_named():
    usual = record("CSV", "size", 1, environment=NEW)
    own = replace(usual, format="ArcticDB", suite="engines", environment=NEW.replace("3.1.1", "2.3.3"))
    said = "Values of the environment arcticdb, which has pandas 2.3.3."
    assert environments.mixture([usual, own]) == said
    assert environments.mixture([own]) == ""
