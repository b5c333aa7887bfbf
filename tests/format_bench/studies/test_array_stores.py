"""The page of array stores."""

from __future__ import annotations

import array_stores
from tests.commands import run
from tests.helpers import ROOT


def test_the_page_is_that_of_the_adapters():
    text = run("study", "array-stores").stdout
    # Made by: format-bench study array-stores > docs/arrays.md
    assert (ROOT / "docs/arrays.md").read_text(encoding="utf-8") == text
    for name in array_stores.names():
        assert text.count(f"| {name} ") == 2
