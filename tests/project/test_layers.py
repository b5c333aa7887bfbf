"""The layer contracts of pyproject.toml, and proof that a wrong import breaks them."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.helpers import ROOT

SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]

WRONG = {
    "project": ("adapter_core/errors.py", "import format_bench.results.records"),
    "format_bench": ("format_bench/results/records.py", "import format_bench.families.cases"),
    "adapter_core": ("adapter_core/errors.py", "import adapter_core.tables.xml"),
    "shared_parts": ("format_bench/families/images/operations.py", "import adapter_core.images.packed"),
    "data_generator": ("data_generator/errors.py", "import data_generator.user.table"),
    "adapters": ("data_formats/parquet.py", "import data_formats.csv"),
    "circles": ("format_bench/results/status.py", "import format_bench.results.records"),
}
"""For each contract a module and an import that breaks it."""


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    command = Path(sys.executable).with_name("lint-imports")
    arguments = [command, "--no-cache", "--no-logo"]
    return subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("layers")
    shutil.copy(ROOT / "pyproject.toml", folder)
    for package in SETTINGS["root_packages"]:
        ignored = shutil.ignore_patterns("__pycache__", "*.json", "*.csv", "templates")
        shutil.copytree(ROOT / package, folder / package, ignore=ignored)
    return folder


def test_the_layers_are_kept(copy):
    done = lint_imports(copy)
    assert done.returncode == 0, done.stdout


def test_every_contract_is_tested():
    assert {contract["id"] for contract in SETTINGS["contracts"]} == set(WRONG)


@pytest.mark.costly
@pytest.mark.parametrize("contract", WRONG)
def test_one_wrong_import_fails(copy, contract):
    module, line = WRONG[contract]
    name = next(each["name"] for each in SETTINGS["contracts"] if each["id"] == contract)
    path = copy / module
    text = path.read_text(encoding="utf-8")
    # At the end and under TYPE_CHECKING: no kind of import escapes.
    path.write_text(f"{text}\nif TYPE_CHECKING:\n    {line}\n", encoding="utf-8")
    done = lint_imports(copy)
    path.write_text(text, encoding="utf-8")
    assert done.returncode == 1
    assert f"{name} BROKEN" in done.stdout


def test_a_new_package_needs_a_place(copy):
    package = copy / "format_bench" / "new_package"
    package.mkdir()
    (package / "__init__.py").touch()
    done = lint_imports(copy)
    shutil.rmtree(package)
    assert done.returncode == 1
    assert "new_package" in done.stdout
