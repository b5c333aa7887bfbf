from __future__ import annotations

from pathlib import Path

import pytest

from format_bench.metadata import libraries
from tests.helpers import ROOT, clone_with

LONGEST = (
    "test_suites.py",
    "test_table_values.py",
    "test_history_measured.py",
    "test_changes.py",
    "test_cron_faults.py",
    "test_table_losses.py",
)
"""Files whose tests wait for one thing, longest first: begun last, they would leave a CPU idle."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Begin with the longest files, whatever the order of the others."""
    place = {name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path.name, len(LONGEST)))


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the folder of the checkout."""
    return ROOT


@pytest.fixture
def clone(tmp_path):
    """Return a function that clones the checkout, with its uncommitted changes, and adds files."""

    def make(files: dict[str, str]) -> Path:
        return clone_with(tmp_path / "clone", files)

    return make


@pytest.fixture
def libraries_unasked(monkeypatch):
    """Spare the process that imports all libraries, where a test is about something else."""
    monkeypatch.setattr(libraries, "asked_in_a_child", lambda _: {})
