"""The conformance kit, as an author runs it on an adapter in a package of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.factories import fake_formats
from tests.helpers import ROOT

STORAGE = """
import image_storages.sqlite


class MyStorage(image_storages.sqlite.Adapter):
    label = "MyStorage"
"""


@pytest.fixture
def run(tmp_path):
    """Return a function that runs the kit in a folder with a module `my_package`."""

    def kit(module: str, *arguments: str, files=("",)) -> subprocess.CompletedProcess[str]:
        (tmp_path / "my_package.py").write_text(module, encoding="utf-8")
        # To collect the whole kit takes seconds; the first test and the last one do.
        kits = [f"format_bench.conformance{file}" for file in files]
        command = [sys.executable, "-m", "pytest", "--pyargs", *kits, "-q"]
        return subprocess.run(
            [*command, "-p", "no:randomly", "-p", "no:cacheprovider", *arguments],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
            capture_output=True,
            text=True,
            check=False,
        )

    return kit


def test_a_right_format_passes_all_tests_of_tables(run):
    done = run(fake_formats.GOOD, "--adapter", "my_package:Adapter")
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
    assert "failed" not in done.stdout


def test_a_lying_format_fails(run):
    done = run(fake_formats.LYING, "--adapter", "my_package:Adapter", files=[".test_table_values"])
    assert done.returncode == 1
    assert "test_an_ordinary_table_is_not_refused_and_comes_back_exact[Lying]" in done.stdout


def test_a_format_that_unpickles_and_calls_itself_safe_fails(run):
    source = fake_formats.GOOD.replace(
        "import DataFormat", "import DataFormat\nfrom adapter_core import Trait"
    )
    source = source.replace("    holds_dup", "    traits = frozenset({Trait.SAFE})\n    holds_dup")
    done = run(
        source, "--adapter", "my_package:Adapter", "-k", "safe_reader", files=[".test_table_files"]
    )
    assert done.returncode == 1
    assert "pickle.find_class('pandas', 'DataFrame')" in done.stdout


def test_an_image_storage_is_held_to_the_contract_of_images(run):
    done = run(STORAGE, "--adapter", "my_package:MyStorage", "--collect-only")
    assert done.returncode == 0, done.stdout
    assert "test_image_values.py::test_small_sets_are_not_refused[MyStorage-" in done.stdout
    assert "test_table" not in done.stdout
    files = (".test_image_access", ".test_image_files")
    done = run(STORAGE, "--adapter", "my_package:MyStorage", "-k", "truncated or random", files=files)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("my_package", "give MODULE:CLASS"),
        ("no_package:Adapter", "No module named 'no_package'"),
        ("my_package:Missing", "has no attribute 'Missing'"),
        ("my_package:DataFormat.label", "give MODULE:CLASS"),
        ("pathlib:Path", "is not an adapter_core.data_format.DataFormat"),
    ],
)
def test_a_name_that_is_not_an_adapter_is_refused_in_one_line(run, name, words):
    done = run(fake_formats.GOOD, "--adapter", name, files=[".test_table_values"])
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_name_all_adapters_are_tested(run):
    done = run("", "--collect-only")
    for file in sorted((ROOT / "data_formats").glob("[!_]*.py")):
        label = next(line for line in file.read_text().splitlines() if line.startswith("    label = "))
        assert f"exact[{label.split(chr(34))[1]}]" in done.stdout


def test_the_kit_is_part_of_the_package():
    assert (Path(ROOT) / "format_bench" / "conformance" / "__init__.py").exists()
