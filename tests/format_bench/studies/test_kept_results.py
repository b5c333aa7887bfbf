"""Results that studies wrote in earlier versions, and as records: both make the same pages."""

from __future__ import annotations

import csv
import importlib
import re

import pytest
from click.testing import CliRunner

from format_bench.cli.main import format_bench
from format_bench.results.study_rows import StudyFile, read
from tests.helpers import ROOT

KEPT = ROOT / "tests" / "data" / "study_results"
"""Results that studies wrote, each beside the page that was printed of them then."""


def _printed(study, *arguments):
    """Return the output of a study's command, without the lengths of the engines' files.

    These are of the code, not of the results.
    """
    arguments = ["study", study, *map(str, arguments)]
    done = CliRunner().invoke(format_bench, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return _comparable(done.output)


def _comparable(page):
    return re.sub(r"\d+ lines", "N lines", page)


def _expected(name):
    return _comparable((KEPT / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("study", "file"),
    [
        ("damage", "damage.jsonl"),
        ("links", "links.csv"),
        ("media", "media.json"),
        ("scaling", "scale.jsonl"),
        ("tuning", "tuning.csv"),
    ],
)
def test_a_declared_study_prints_the_tables_and_lists_of_then(study, file):
    def facts(page):
        return [line for line in page.splitlines() if line[:2] in {"| ", "- ", "##"}]

    then = facts(_expected(f"{file.partition('.')[0]}.md"))
    assert [each for each in facts(_printed(study, "--page", KEPT / file)) if each in then] == then


@pytest.mark.parametrize(
    ("study", "file", "of_today"),
    [("damage", "damage.jsonl", set()), ("links", "links.csv", {"date", "libraries"})],
)
def test_a_declared_study_prints_the_summary_of_then(study, file, of_today):
    def summary(text):
        # A file without a date and versions has the day and the libraries of its summary.
        rows = csv.DictReader(text.splitlines())
        return [{name: row[name] for name in row if name not in of_today} for row in rows]

    then = summary(_expected(f"{study}_facts.csv"))
    assert then
    assert summary(_printed(study, "--facts", KEPT / file)) == then


@pytest.mark.parametrize(
    ("study", "module", "file"),
    [
        ("damage", "damaging.counts", "damage.jsonl"),
        ("links", "links", "links.csv"),
        ("nesting", "nested.measuring", "nesting.csv"),
        ("scaling", "scale.scale_run", "scale.jsonl"),
        ("table-changes", "tables.changes", "changes.csv"),
    ],
)
def test_a_kept_file_and_records_of_it_have_the_values_of_then(tmp_path, study, module, file):
    def values(page):
        # Without headings, and cells that only pages of today have.
        lines = [each.replace("|  |", "|") for each in page.splitlines() if each[:2] == "| "]
        return {each for each in lines if not each.startswith(("| --", "| format "))}

    then = values(_expected(f"{file.partition('.')[0]}.md"))
    assert then
    assert then <= values(_printed(study, "--page", KEPT / file))
    form = importlib.import_module(f"format_bench.studies.{module}").FORM
    rows = read(form, KEPT / file)
    kept = StudyFile(form, tmp_path)
    for each in rows:
        kept.append(each)
    assert read(form, tmp_path) == rows
    assert then <= values(_printed(study, "--page", tmp_path))
