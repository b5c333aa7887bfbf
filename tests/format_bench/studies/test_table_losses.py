"""The page of table losses: its parts, as the contract tests compare them, and how losses are worded."""

from __future__ import annotations

import pandas as pd
import pytest

import data_formats
from format_bench.conformance import losses
from format_bench.conformance.tables import ordinary
from format_bench.results.load import Results
from format_bench.studies.declared import study
from format_bench.studies.tables import losses as page_of_losses


@pytest.mark.costly("data_formats", "tests.project.test_docs")
def test_the_page_in_docs_is_of_the_outcomes_that_the_contract_tests_compare(root, monkeypatch):
    page = (root / "docs/losses.md").read_text(encoding="utf-8")

    def documented(names):
        found = {
            name: {
                each: losses.documented_of(losses.TABLE_PAGE, name, each)
                for each in data_formats.names()
            }
            for name in names
        }
        assert None not in {text for by_label in found.values() for text in by_label.values()}
        return found

    monkeypatch.setattr(page_of_losses, "of_tables", documented)
    assert study_page("table-losses") == page
    assert "wrong" not in page
    assert len(losses.column_tables()) == page.count("\n### ")


def study_page(name):
    return study.read(name).page(Results("", [], [])).markdown()


def test_a_wrong_value_is_shown_as_wrong(monkeypatch, tmp_path):
    adapter = data_formats.get("Pickle")
    monkeypatch.setattr(adapter, "_read", lambda *_: ordinary()[::-1].reset_index(drop=True))
    found = losses.of_table(adapter, ordinary(), tmp_path / "table")
    assert found.text.startswith("**wrong**: column whole: 4 of 4 values")


def test_refusals_and_losses_are_described(tmp_path):
    halves = pd.DataFrame({"real": [0.5]}, dtype="float16")
    orc = losses.of_table(data_formats.get("ORC"), halves, tmp_path / "halves")
    assert orc.text == "refused: column 'real' contains 16-bit floats; ORC has no type for them"
    words = ordinary()[["word"]].astype("category")
    csv = losses.of_table(data_formats.get("CSV"), words, tmp_path / "words.csv")
    assert csv.text == "column word: category came back as str"
