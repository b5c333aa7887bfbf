"""Fixtures that several folders of tests share, and the order of the files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from format_bench.metadata import libraries
from tests.helpers import ROOT, clone_with

CONFORMANCE = ROOT / "format_bench" / "conformance"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Run files on arrays first, then slow files, whatever the order of the others."""
    # With --dist loadfile a file is not divided: a slow one that starts last leaves the other CPU idle.
    # After PyTables, h5py and ROOT in one process, netCDF's HDF5 library fails and filters crash.
    items.sort(
        key=lambda item: (
            "array" not in f"{item.path.parent.name}/{item.path.name}",
            not (item.get_closest_marker("slow") or CONFORMANCE in item.path.parents),
        )
    )


@pytest.fixture(autouse=True)
def cpus_of_the_process():
    """Fail a test that leaves the process pinned, before later tests of the same process fail."""
    before = os.sched_getaffinity(0)
    yield
    after = os.sched_getaffinity(0)
    os.sched_setaffinity(0, before)
    assert after == before, "a test left the process pinned: threads.apply belongs in a child process"


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the folder of the checkout."""
    return ROOT


@pytest.fixture
def clone(tmp_path):
    """Return a function that copies the checkout to a new repository and adds files."""

    def make(files: dict[str, str]) -> Path:
        return clone_with(tmp_path / "clone", files)

    return make


@pytest.fixture
def libraries_unasked(monkeypatch):
    """Skip the process that imports all libraries to ask their versions."""
    monkeypatch.setattr(libraries, "facts_from_child", lambda _: {})
