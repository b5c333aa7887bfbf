"""Fixtures that several folders of tests share, and the order of the files."""

from __future__ import annotations

import functools
import os
from functools import partial
from pathlib import Path

import pytest

from format_bench.conformance import selection
from format_bench.conformance.conftest import (
    memory_given_back,
    pytest_collection_finish,
    pytest_sessionfinish,
    pytest_xdist_make_scheduler,
)
from format_bench.metadata import libraries
from tests.helpers import ROOT, cloned_checkout, copy_with

TESTS = Path(__file__).parent

__all__ = [
    "memory_given_back",
    "pytest_collection_finish",
    "pytest_sessionfinish",
    "pytest_xdist_make_scheduler",
]


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


OF_RUN = ("data_generator", "format_bench.cli", "format_bench.families", "format_bench.runner")
"""Modules of the command `run`, which finds its own by name."""

COSTLY = {
    "array_stores/test_fresh_processes.py": ("array_stores",),
    "benchmarks/test_suites.py": ("format_bench.asv_support", "format_bench.dashboard.postprocessing"),
    "data_formats/test_column_sums.py": ("data_formats",),
    "data_generator/test_arrays_data.py": ("data_generator",),
    "data_generator/test_images_data.py": ("data_generator",),
    "data_generator/test_profile.py": ("data_generator",),
    "data_generator/test_workloads.py": ("data_generator",),
    "foreign_readers/test_contract.py": ("array_stores", "data_formats", "format_bench.compatibility"),
    "format_bench/asv_support/test_cell.py": (),
    "format_bench/asv_support/test_images.py": (),
    "format_bench/changes/test_changes.py": (),
    "format_bench/clusters/test_connection.py": (),
    "format_bench/cli/test_own_records.py": ("record_stores", *OF_RUN),
    "format_bench/cli/test_reproduction.py": ("adapter_core.snippets", "format_bench.recommendation"),
    "format_bench/cli/test_run_own_data.py": ("array_stores", "data_formats", *OF_RUN),
    "format_bench/cli/test_run_queries.py": ("array_stores", "data_formats", "query_engines", *OF_RUN),
    "format_bench/dashboard/test_*.py": ("format_bench.dashboard.postprocessing",),
    "format_bench/families/queries/test_new_engine.py": ("format_bench.families", "query_engines"),
    "format_bench/families/queries/test_queries.py": ("format_bench.families", "query_engines"),
    "format_bench/families/queries/test_query_sets.py": ("format_bench.families", "query_engines"),
    "format_bench/families/test_measuring.py": ("format_bench.families",),
    "format_bench/families/test_new_family.py": ("format_bench.families",),
    "format_bench/families/training/test_trainings.py": ("training_loaders",),
    "format_bench/families/test_records.py": ("format_bench.families.records", "record_stores"),
    "format_bench/instruments/test_instruments.py": (),
    "format_bench/library_sets/test_library_sets.py": (),
    "format_bench/metadata/test_run_metadata.py": (),
    "format_bench/network/test_*.py": ("format_bench.network",),
    "format_bench/parallel/test_parallel*.py": (),
    "format_bench/planning/test_table_plans.py": ("format_bench.planning",),
    "format_bench/racing/test_recommend_data.py": ("format_bench.racing",),
    "format_bench/report/test_*.py": ("format_bench.report",),
    "format_bench/runner/test_cluster_run.py": ("format_bench.clusters", "format_bench.runner.executor"),
    "format_bench/studies/test_compatibility.py": ("array_stores", "data_formats"),
    "format_bench/studies/test_damage.py": ("array_stores", "data_formats", "image_storages"),
    "format_bench/studies/test_scale*.py": ("format_bench.parallel",),
    "format_bench/studies/test_survival.py": (
        "array_stores",
        "data_formats",
        "image_storages",
        "record_stores",
    ),
    "project/test_listeners.py": ("format_bench.clusters", "format_bench.network"),
    "query_engines/test_*.py": ("data_formats", "query_engines"),
    "record_stores/test_jvm_own_records.py": ("record_stores",),
    "record_stores/test_jvm_stores.py": ("record_stores",),
    "server/test_cron*.py": ("format_bench.automation", "format_bench.monthly"),
    "tools/test_fuzz.py": ("array_stores", "data_formats", "image_storages", "record_stores"),
}
"""Files of dear tests, and modules that they prove but do not import: by name, or in other processes."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark tests, and run files on arrays first, then slow files, whatever the order of the others."""
    for item in items:
        if not item.path.is_relative_to(TESTS):
            continue
        for marker in _markers_of(item.path):
            item.add_marker(marker)
        costly = item.get_closest_marker("costly")
        # It runs in any case if it, or a module that it imports, has changed.
        if costly and not selection.tier.concerns(item.module.__name__, *costly.args):
            item.add_marker(pytest.mark.skip("no change concerns it; it runs every night"))
        if "browser" in item.fixturenames:
            item.add_marker("browser")
    # A slow file that starts last leaves the other CPU idle.
    # netCDF's filters fail after ROOT, as `format_bench.conformance.native_libraries` says.
    items.sort(key=lambda item: (not _is_on_arrays(item.path), not item.get_closest_marker("slow")))


def _is_on_arrays(file: Path) -> bool:
    # Bounds of errors are tried on arrays first of all.
    return "array" in f"{file.parent.name}/{file.name}" or file.name == "test_bounded.py"


@functools.cache
def _markers_of(file: Path) -> list[pytest.MarkDecorator]:
    """Return the markers that `MARKED` and `COSTLY` give all tests of a file."""
    path = file.relative_to(TESTS)
    return [
        *(
            getattr(pytest.mark, name)
            for name, patterns in MARKED.items()
            if any(map(path.match, patterns))
        ),
        *(pytest.mark.costly(*modules) for pattern, modules in COSTLY.items() if path.match(pattern)),
    ]


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


@pytest.fixture(scope="session")
def clone_to(tmp_path_factory):
    """Return a function that copies the checkout to a new repository in a folder and adds files."""
    return partial(copy_with, cloned_checkout(tmp_path_factory.mktemp("checkout") / "clone"))


@pytest.fixture
def clone(clone_to, tmp_path):
    """Return a function that copies the checkout to a new repository and adds files."""
    return partial(clone_to, tmp_path / "clone")


@pytest.fixture
def libraries_unasked(monkeypatch):
    """Skip the process that imports all libraries to ask their versions."""
    monkeypatch.setattr(libraries, "facts_from_child", lambda *_: {})
