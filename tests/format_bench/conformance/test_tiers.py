"""Tiers of the tests: which adapters a change concerns, and which stand for the others."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict

import pytest

import array_stores
import data_formats
import image_storages
import query_engines
import record_stores
from adapter_core import UnknownNameError, environments
from adapter_core.records.jvm import JvmStore
from data_generator.synthetic.edge_case_images import edge_case_images
from format_bench.conformance import selection
from format_bench.conformance.selection import HDF5, SHARE, SelectedAdapter, group_of
from format_bench.conformance.tables import every_table
from format_bench.conformance.tiers import (
    READERS,
    Tier,
    base,
    changed_files,
    chosen_tier,
    concerned,
    import_graph,
    reference,
)
from format_bench.system.git import Repository
from tests.conftest import COSTLY
from tests.factories import fake_formats
from tests.helpers import ROOT, git, output_of

PACKAGES = (array_stores, data_formats, image_storages, query_engines, record_stores)
TABLE_TEST = "format_bench.conformance.test_table_values"
BASE = """
from adapter_core import DataFormat


class Shared(DataFormat):
    shared = True
"""


def added(*files, package=data_formats):
    """Return the labels that changed files add to the reference ones."""
    tier = Tier(is_all=False, concerned=concerned(files))
    return set(tier.labels(package.registry, TABLE_TEST)) - reference(package.registry)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda each: each.__name__)
def test_the_reference_has_each_shared_base_and_each_library(package):
    adapters = {name: package.find(name) for name in package.names()}
    chosen = reference(package.registry)

    def parts(names):
        found = set()
        for adapter in map(adapters.get, names):
            found |= {re.split(r"[^\w.-]", each)[0] for each in adapter.requires}
            for part in (adapter, getattr(adapter, "engine", adapter)):
                bases = type(part).__mro__
                found |= {each for each in bases if each.__module__.startswith("adapter_core.")}
        return found

    assert parts(chosen) == parts(adapters)
    assert len(chosen) < 0.62 * len(adapters)


def test_a_changed_adapter_is_tested_and_no_other():
    assert added("data_formats/csv.py") == {"CSV"}
    assert added("data_formats/csv.py", package=array_stores) == set()


@pytest.mark.parametrize("name", environments.names())
def test_the_tier_of_an_environment_has_its_adapters_and_no_others(name):
    tier = Tier(is_all=False, environment=name)
    chosen = {label for each in PACKAGES for label in tier.labels(each.registry, TABLE_TEST)}
    own = {
        label
        for package in PACKAGES
        for label in package.names()
        if package.find(label).environment == name
    }
    assert chosen == own
    assert chosen
    assert tier.concerns("anything")


def test_an_interpreter_without_an_environment_has_no_tier_of_it():
    with pytest.raises(UnknownNameError, match="no environment of the interpreter"):
        chosen_tier("environment")


def test_a_tier_of_adapters_that_do_not_work_is_refused(monkeypatch):
    monkeypatch.setattr(selection, "tier", Tier(is_all=False, environment="vss"))
    with pytest.raises(pytest.UsageError, match=re.escape("DuckDB[vss]: ")):
        selection.labels_of_tier()


def test_a_changed_base_concerns_all_adapters_above_it():
    xml = {"XML", "XML[etree]", "XML[iterparse]"} - reference(data_formats.registry)
    assert added("adapter_core/tables/xml.py") == xml
    every = set(data_formats.names()) - reference(data_formats.registry)
    assert added("adapter_core/data_format.py") == every
    assert added("adapter_core/image_storage.py") == set()
    for package in PACKAGES:
        every = set(package.names()) - reference(package.registry)
        assert added("adapter_core/errors.py", package=package) == every


def test_a_format_concerns_the_query_engines_on_it():
    found = added("data_formats/orc.py", package=query_engines)
    assert {name for name in query_engines.names() if name.startswith("ORC[")} == found


def test_a_changed_test_and_what_it_compares_with_concern_all_adapters():
    every = set(data_formats.names()) - reference(data_formats.registry)
    for file in (
        "format_bench/conformance/test_table_values.py",
        "format_bench/conformance/tables.py",
        "format_bench/conformance/conftest.py",
        "format_bench/verification/tables.py",
    ):
        assert added(file) == every
    assert added("format_bench/conformance/test_table_parts.py") == set()


def test_files_that_are_no_modules_concern_their_readers():
    stores = {name for name in record_stores.names() if isinstance(record_stores.find(name), JvmStore)}
    java = "record_stores/jvm/src/main/java/formatbench/Main.java"
    chosen = reference(record_stores.registry)
    assert added(java, package=record_stores) == stores - chosen
    assert "ROOT.TTree[ROOT]" in added("adapter_core/tables/root_tables.hxx")
    assert added("docs/index.md", "constraints.md") == set()
    assert all(
        (ROOT / place).is_dir() if place.endswith("/") else (ROOT / place).is_file() for place in READERS
    )
    assert set(READERS.values()) <= import_graph().modules


def test_dear_tests_run_if_a_change_concerns_them_or_what_they_start():
    def runs(module, *started, file):
        return Tier(is_all=False, concerned=concerned([file])).concerns(module, *started)

    site, faults = "tests.format_bench.dashboard.test_dashboard", "tests.server.test_cron_faults"
    for file in (
        "format_bench/dashboard/layout.py",
        "format_bench/results/records.py",
        "tests/factories/site.py",
        "tests/format_bench/dashboard/test_dashboard.py",
    ):
        assert runs(site, *COSTLY["format_bench/dashboard/test_*.py"], file=file)
    assert not runs(site, *COSTLY["format_bench/dashboard/test_*.py"], file="data_formats/csv.py")
    assert runs(faults, *COSTLY["server/test_cron*.py"], file="cron.sh")
    assert runs("tests.tools.test_fuzz", file="tools/fuzz/damage.py")
    assert not runs(faults, file="cron.sh")
    assert Tier().concerns("anything")
    assert not Tier(is_all=False, concerned=frozenset({"ab"})).concerns("a")
    modules = import_graph().modules
    assert {each for started in COSTLY.values() for each in started} <= modules
    for pattern in COSTLY:
        assert list((ROOT / "tests").glob(pattern)), pattern


def test_a_toy_is_tested_if_it_or_its_base_has_changed(clone):
    source = fake_formats.GOOD.replace(
        "import DataFormat", "import DataFormat\nfrom adapter_core.toy_base import Shared"
    ).replace("(DataFormat)", "(Shared)")
    labels = ["Toy 1", "Toy 2", "Toy 3"]
    toys = {f"data_formats/toy_{label[-1]}.py": source.replace("Toy", label) for label in labels}
    folder = clone({**toys, "adapter_core/toy_base.py": BASE})
    code = f"""
import json, sys
sys.path.insert(0, {str(folder)!r})
import data_formats
from format_bench.conformance.tiers import ROOT, Tier, concerned
assert str(ROOT) == {str(folder)!r}
found = [
    Tier(False, concerned(files)).labels(data_formats.registry, {TABLE_TEST!r})
    for files in (["README.md"], ["data_formats/toy_3.py"], ["adapter_core/toy_base.py"])
]
print(json.dumps([[name for name in names if name in {labels}] for names in found]))
"""
    nothing, one, base_of_all = json.loads(output_of(code))
    assert nothing == ["Toy 1"]  # the base has no other reference
    assert one == ["Toy 1", "Toy 3"]
    assert base_of_all == labels


@pytest.fixture
def repository(tmp_path):
    git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    return Repository(tmp_path)


def commit(repository, name):
    """Commit a new file, and return the commit."""
    (repository.root / name).touch()
    git(repository.root, "add", "--all")
    git(repository.root, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", name)
    return repository.commit_of("HEAD")


def test_changes_are_counted_from_main_or_the_commit_before(repository):
    first = commit(repository, "one")
    assert base(repository) == ""
    second = commit(repository, "two")
    assert base(repository) == first
    assert base(repository, "HEAD") == second
    git(repository.root, "switch", "--quiet", "--create", "branch")
    for name in ("three", "four"):
        commit(repository, name)
    assert base(repository) == second
    (repository.root / "new").touch()
    (repository.root / "one").unlink()
    assert changed_files(repository, base(repository)) == ["four", "new", "one", "three"]


def test_all_are_tested_if_the_changes_are_unknown_or_change_libraries(repository, tmp_path):
    def labels():
        tier = chosen_tier("changed", root=repository.root)
        return tier.labels(data_formats.registry, TABLE_TEST), tier.reason

    every = data_formats.names()
    assert labels() == (every, "all, since the commit before is unknown")
    commit(repository, "one")
    assert labels() == (every, "all, since the commit before is unknown")
    since = chosen_tier("changed", "0" * 40, repository.root)
    assert since.reason == f"all, since the commit {'0' * 40} is unknown"
    commit(repository, "two")
    assert set(labels()[0]) == reference(data_formats.registry)
    commit(repository, "constraints.txt")
    assert labels()[0] == every
    assert chosen_tier("changed", root=tmp_path / "none").is_all


def test_processes_of_xdist_take_the_choice():
    tier = Tier(is_all=False, concerned=frozenset({"b", "a"}), reason="words")
    assert Tier.of_plain(tier.to_plain()) == tier


def test_the_adapters_of_a_library_and_other_files_are_groups():
    kit = "format_bench/conformance/test_"
    assert group_of(f"{kit}array_files.py::test_a[NetCDF4[xarray]-zlib-1]") == f"array-{HDF5}"
    assert group_of(f"{kit}array_files.py::test_a[Zarr.dir[xarray]]") == "array-zarr"
    assert group_of(f"{kit}image_files.py::test_a[HDF5.chunked]") == f"array-{HDF5}"
    assert group_of(f"{kit}table_values.py::test_a[HDF5.table-words]") == f"table-{HDF5}"
    assert group_of(f"{kit}table_values.py::test_a[CSV[duckdb]-x]") == "table-duckdb"
    feeds = f"{kit}loader_epochs.py::test_a"
    assert group_of(f"{feeds}[training-images-HDF5[loop]]") == f"loader-{HDF5}"
    assert group_of(f"{feeds}[WebDataset[loop]]") == "loader-pyarrow"
    assert group_of(f"{kit}table_values.py::test_a") == f"{kit}table_values.py"
    assert group_of("tests/a/test_b.py::test_c[CSV]") == "tests/a/test_b.py"


def test_one_process_of_xdist_runs_the_adapters_of_a_library():
    command = [sys.executable, "-m", "pytest", "--numprocesses", "2", "--dist", "loadgroup", "-v"]
    command += ["-p", "no:cacheprovider", "-k", "truncated and (HDF5 or PNG or JPEG or QOI or SQLite)"]
    files = ["format_bench/conformance/test_image_files.py", "tests/adapter_core/test_predicate.py"]
    done = subprocess.run(
        [*command, *files], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    found = defaultdict(set)
    for process, test in re.findall(r"^\[(gw\d)\].* (\S+\.py::.+?) *$", done, re.MULTILINE):
        found[group_of(test)].add(process)
    assert len(found) >= 4, done
    assert [group for group, processes in found.items() if len(processes) > 1] == []


def test_adapters_that_stand_for_others_share_the_cases():
    cases = range(20)
    assert SelectedAdapter("Parquet", dict).share_of(cases) == list(cases)
    shares = [SelectedAdapter(label, dict, True).share_of(cases) for label in map(str, range(20))]
    assert all(len(share) == pytest.approx(len(cases) / SHARE, abs=1) for share in shares)
    assert {case for share in shares for case in share} == {*cases}
    one = SelectedAdapter("Zarr", dict, True)
    assert {case for each in cases for case in one.share_of(cases, str(each))} == {*cases}


@pytest.mark.parametrize(
    ("package", "count"),
    [(array_stores, 30), (data_formats, len(every_table())), (image_storages, len(edge_case_images()))],
)
def test_together_they_have_all_cases(package, count):
    shares = [
        SelectedAdapter(name, dict, True).share_of(range(count)) for name in reference(package.registry)
    ]
    assert {case for share in shares for case in share} == {*range(count)}
