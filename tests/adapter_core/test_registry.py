"""Registry: listing, availability, entry points, extras."""

from __future__ import annotations

import importlib.metadata
import logging
import subprocess
import sys

import pytest
from packaging.requirements import Requirement

import data_formats
import image_storages
from adapter_core import DataFormat, Registry, UnavailableError, UnknownNameError
from adapter_core.availability import import_failure
from adapter_core.listing import declarations
from format_bench.results.suites import FAMILIES
from tests.factories import fake_formats

PACKAGES = (
    *(
        "adapter_core",
        "array_stores",
        "data_formats",
        "image_storages",
        "query_engines",
        "record_stores",
        "training_loaders",
    ),
    *("data_generator", "format_bench"),
)
TWELVE = "Avro CSV Excel Feather HDF5.fixed HDF5.table JSON Lance ORC Parquet Pickle XML".split()


@pytest.fixture
def registry(tmp_path, monkeypatch):
    """Return a function that makes a registry of a package with the given files."""

    def make(**files: str) -> Registry[DataFormat]:
        package = tmp_path / "toy_formats"
        package.mkdir()
        for stem, text in {"__init__": "", **files}.items():
            (package / f"{stem}.py").write_text(text)
        monkeypatch.syspath_prepend(str(tmp_path))
        for name in [name for name in sys.modules if name.startswith("toy_formats")]:
            monkeypatch.delitem(sys.modules, name)
        return Registry("toy_formats", package, "toy format")

    return make


def test_the_twelve_of_the_thesis_are_listed():
    assert set(TWELVE) <= set(data_formats.names())
    assert data_formats.names() == sorted(data_formats.names(), key=str.lower)


def test_the_six_storages_of_the_thesis_are_listed():
    assert {"PNG", "Base64", "HDF5", "Parquet", "SQLite", "LMDB"} <= set(image_storages.names())
    assert image_storages.names() == sorted(image_storages.names(), key=str.lower)


def test_an_adapter_is_found_by_its_label():
    assert data_formats.get("Parquet").label == "Parquet"


@pytest.mark.parametrize(("name", "near"), [("parquet", "Parquet"), ("HDF5", "HDF5"), ("Exel", "Excel")])
def test_an_unknown_name_is_an_error_with_near_ones(name, near):
    with pytest.raises(UnknownNameError, match=f"no data format '{name}'; did you mean .*{near}"):
        data_formats.get(name)


def test_an_unknown_name_without_near_ones_is_an_error_with_all():
    with pytest.raises(UnknownNameError, match=r"known: ArcticDB, Avro, .*CSV, .*XML"):
        data_formats.get("???")


def test_a_file_is_enough_to_be_a_format(registry):
    formats = registry(good=fake_formats.GOOD)
    assert formats.names() == ["Toy"]
    assert formats.get("Toy").availability()


def test_a_missing_package_makes_a_format_unavailable(registry):
    formats = registry(missing=fake_formats.toy("Missing", requires=("pandas", "no_such_package")))
    assert formats.names() == ["Missing"]
    answer = formats.find("Missing").availability()
    assert (answer.available, answer.reason) == (False, "no_such_package is not installed")
    assert formats.find("Missing").installed() == answer
    with pytest.raises(UnavailableError) as caught:
        formats.get("Missing")
    assert str(caught.value) == (
        "Missing is unavailable: no_such_package is not installed; "
        'try: pip install "formatbench[missing]"'
    )


def test_an_old_package_makes_a_format_unavailable(registry):
    formats = registry(old=fake_formats.toy("Old", requires=("pandas>=999",)))
    version = importlib.metadata.version("pandas")
    expected = f"pandas {version} is installed, pandas>=999 is required"
    assert formats.find("Old").availability().reason == expected
    assert formats.find("Old").installed().reason == expected


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (fake_formats.BROKEN_PACKAGE, "OSError: libbroken.so.1: cannot open shared object file"),
        ("import no_such_module", "No module named 'no_such_module'"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("def", "SyntaxError: "),
    ],
)
def test_a_package_that_breaks_on_import_makes_a_format_unavailable(registry, tmp_path, code, reason):
    formats = registry(broken=fake_formats.BROKEN)
    (tmp_path / "broken_package.py").write_text(code)
    answer = formats.find("Broken").availability()
    assert answer.reason.startswith(f"import of broken_package failed: {reason}")
    assert formats.find("Broken").installed()
    with pytest.raises(UnavailableError, match="import of broken_package failed"):
        formats.get("Broken")


def test_an_error_in_an_adapter_file_itself_surfaces(registry):
    formats = registry(wrong=fake_formats.GOOD + "\nraise ZeroDivisionError\n")
    with pytest.raises(ZeroDivisionError):
        formats.get("Toy")


def test_a_file_without_adapter_is_an_error(registry):
    formats = registry(empty="x = 1\n")
    with pytest.raises(SyntaxError, match=r"empty.py: declares no class Adapter"):
        formats.names()


@pytest.fixture
def table(registry, tmp_path):
    """Return a function that makes a registry whose package has a table of adapters."""

    def make(text: str) -> Registry[DataFormat]:
        formats = registry(good=fake_formats.GOOD)
        made = "class Made:\n    def __init__(self, *given):\n        self.given = given\n"
        (tmp_path / "made.py").write_text(made)
        (tmp_path / "toy_formats/foreign").mkdir()
        (tmp_path / "toy_formats/foreign/adapters.toml").write_text(text)
        return formats

    return make


def test_an_entry_of_a_table_is_enough_to_be_a_format(table, tmp_path):
    formats = table('adapter = "made:Made"\n[kept-apart]\nlabel = "Kept"\nsuite = "rare"\n')
    assert formats.groups() == {"Kept": "rare", "Toy": ""}
    facts, folder = formats.find("Kept").given
    assert facts == {"name": "kept-apart", "label": "Kept", "suite": "rare"}
    assert folder == tmp_path / "toy_formats/foreign"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[one]\nlabel = 'One'\n", "it lacks 'adapter'"),
        ("adapter = 'made:Made'\n[one]\n", "it lacks 'label'"),
        ("adapter", "Expected '='"),
    ],
)
def test_a_damaged_table_is_an_error_with_its_name(table, text, reason):
    formats = table(text)
    with pytest.raises(SyntaxError, match=rf"foreign/adapters.toml: {reason}"):
        formats.names()


def test_other_packages_add_formats_by_entry_point(registry, tmp_path):
    formats = registry(good=fake_formats.GOOD)
    assert formats.names() == ["Toy"]
    (tmp_path / "foreign.py").write_text(fake_formats.toy("Foreign"))
    info = tmp_path / "foreign-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: foreign\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[format_bench.toy_formats]\nForeign = foreign:Adapter\nLost = foreign:Missing\n"
    )
    assert formats.names() == ["Toy", "Foreign", "Lost"]
    assert formats.get("Foreign").label == "Foreign"
    with pytest.raises(UnavailableError, match=r"foreign:Missing failed to load: AttributeError"):
        formats.get("Lost")


def test_the_first_name_of_excluded_from_all_is_still_read():
    with pytest.warns(DeprecationWarning, match="`apart` is now `excluded_from_all`"):

        class Heavy(DataFormat):
            apart = "takes 591 MB"

    assert Heavy.excluded_from_all == "takes 591 MB"


def test_every_module_imports_with_all_optional_packages_blocked(root):
    families = [root / family.folder for family in FAMILIES.values()]
    required = {text for folder in families for each in declarations(folder) for text in each.requires}
    blocked = {text.split(">")[0] for text in required} | {"lance", "numpy", "packaging"}
    code = f"""
import importlib, pkgutil, sys
for name in {sorted(blocked)!r}:
    sys.modules[name] = None
for package in {PACKAGES!r}:
    if package == "format_bench":
        del sys.modules["numpy"], sys.modules["msgspec"]  # which it needs itself
    for module in pkgutil.walk_packages(importlib.import_module(package).__path__, package + "."):
        if ".conformance." not in module.name:  # tests, which need what they test
            importlib.import_module(module.name)
import data_formats
del sys.modules["packaging"]
for name in data_formats.names():
    answer = data_formats.find(name).availability()
    assert not answer and answer.reason and answer.install_hint, name
print(len(data_formats.names()))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= len(TWELVE)


def test_extras_follow_the_files(root):
    metadata = importlib.metadata.metadata("formatbench")
    families = [root / family.folder for family in FAMILIES.values()]
    found = [each for family in families for each in declarations(family)]
    stems = {
        each.stem.replace("_", "-")
        for each in found
        if not (each.outside_library_set or each.environment)
    }
    extras = {name.replace("_", "-") for name in metadata.get_all("Provides-Extra")}
    others = (
        "all arrays cluster docs images links mcp native query-sets ray report site tables test".split()
    )
    assert stems | {*others} == extras


def test_the_usual_table_formats_and_reports_need_one_extra(root):
    requirements = [Requirement(text) for text in importlib.metadata.requires("formatbench")]
    usual = [each for each in declarations(root / "data_formats") if each.label in TWELVE]
    of_extra = {
        each.name for each in requirements if each.marker and each.marker.evaluate({"extra": "tables"})
    }
    assert of_extra == {Requirement(text).name for each in usual for text in each.requires}
    base = {each.name for each in requirements if not each.marker}
    assert {"jinja2", "matplotlib", "openpyxl"} <= base


def test_warnings_that_a_library_logs_at_its_import_are_not_shown(tmp_path, monkeypatch, caplog):
    text = "import logging; logging.getLogger('loud').warning('there is no JAX')"
    (tmp_path / "loud_library.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert import_failure("loud_library") == ""
    assert caplog.messages == []
    logging.getLogger("loud").warning("this is shown")
    assert caplog.messages == ["this is shown"]
