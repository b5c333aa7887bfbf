"""Fixtures that several folders of tests share, and the order of the files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from format_bench.conformance.conftest import pytest_xdist_make_scheduler
from format_bench.metadata import libraries
from tests.helpers import ROOT, clone_with

TESTS = Path(__file__).parent

__all__ = ["pytest_xdist_make_scheduler"]


MARKED = {
    "asv": (
        "benchmarks/test_suites.py",
        "format_bench/automation/test_history_measured.py",
        "format_bench/changes/test_changes.py",
        "format_bench/dashboard/test_*.py",
    ),
    "cluster": (
        "format_bench/clusters/test_*.py",
        "format_bench/parallel/test_parallel*.py",
        "format_bench/runner/test_cluster_run.py",
        "format_bench/studies/test_scale*.py",
    ),
    "jvm": ("record_stores/test_jvm_*.py", "*/test_records_jvm.py"),
    "server": (
        "format_bench/network/test_*.py",
        "project/test_listeners.py",
        "server/test_*.py",
    ),
}
"""Markers of files that need more than Python, by patterns of paths below this folder."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark tests, and run files on arrays first, then slow files, whatever the order of the others."""
    for item in items:
        if not item.path.is_relative_to(TESTS):
            continue
        path = item.path.relative_to(TESTS)
        for marker, patterns in MARKED.items():
            if any(path.match(pattern) for pattern in patterns):
                item.add_marker(marker)
        if "browser" in item.fixturenames:
            item.add_marker("browser")
    # A slow file that starts last leaves the other CPU idle.
    # After PyTables, h5py and ROOT in one process, netCDF's HDF5 library fails and filters crash.
    items.sort(
        key=lambda item: (
            "array" not in f"{item.path.parent.name}/{item.path.name}",
            not item.get_closest_marker("slow"),
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
