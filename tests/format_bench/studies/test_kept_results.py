"""Results that studies wrote in earlier versions: the same pages and tables are made of them."""

from __future__ import annotations

import re
import shutil

import pytest

from tests.helpers import ROOT, run

KEPT = ROOT / "tests" / "data" / "study_results"
"""Results that the studies of 0.2 wrote, each beside the page that was printed of them then."""


@pytest.mark.parametrize(
    ("study", "option", "file", "expected"),
    [
        ("damage", "--page", "damage.jsonl", "damage.md"),
        ("damage", "--facts", "damage.jsonl", "damage_facts.csv"),
        ("links", "--page", "links.csv", "links.md"),
        ("links", "--facts", "links.csv", "links_facts.csv"),
        ("media", "--page", "media.json", "media.md"),
        ("nesting", "--page", "nesting.csv", "nesting.md"),
        ("query-sets", "--page", "sets.csv", "sets.md"),
        ("scaling", "--page", "scale.jsonl", "scale.md"),
        ("table-changes", "--page", "changes.csv", "changes.md"),
        ("tuning", "--page", "tuning.csv", "tuning.md"),
    ],
)
def test_a_kept_file_makes_the_page_of_then(tmp_path, study, option, file, expected):
    shutil.copy(KEPT / file, tmp_path)
    # A folder of results was what `scaling` took.
    source = tmp_path if study == "scaling" else tmp_path / file
    done = run("study", study, option, source)
    assert done.returncode == 0, done.stderr
    assert _comparable(done.stdout) == _comparable((KEPT / expected).read_text(encoding="utf-8"))


def _comparable(page: str) -> str:
    """Return a page without the lengths of the engines' files, which are of the code, not of results."""
    return re.sub(r"\d+ lines", "N lines", page)
