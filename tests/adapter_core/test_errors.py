"""The error tree is whole, named alike, and available under its old names for one release."""

from __future__ import annotations

import ast
import builtins
import re
from pathlib import Path

import pytest

import adapter_core
import data_generator.errors
from adapter_core import errors
from adapter_core.errors import FormatBenchError

ROOT = Path(adapter_core.__file__).parents[1]
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
    *("data_generator", "format_bench", "benchmarks", "tools"),
)
ERRORS = {
    name: value
    for name, value in vars(errors).items()
    if isinstance(value, type) and issubclass(value, Exception)
}


def is_error(name):
    found = getattr(builtins, name, None) or ERRORS.get(name)
    return name.endswith(("Error", "Exception")) or (
        isinstance(found, type) and issubclass(found, BaseException)
    )


def classes_of_errors():
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_bytes())):
                if isinstance(node, ast.ClassDef):
                    bases = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
                    if any(map(is_error, bases)):
                        yield path.relative_to(ROOT).as_posix(), node.name


def test_every_error_of_the_project_is_in_the_one_module():
    assert {path for path, _ in classes_of_errors()} == {"adapter_core/errors.py"}


def test_every_error_has_the_base_of_all_and_a_name_that_says_so():
    assert all(issubclass(error, FormatBenchError) for error in ERRORS.values())
    assert all(name.endswith("Error") for name in ERRORS)


def test_the_docstring_draws_the_tree():
    drawn = {}
    parents = ["FormatBenchError"]
    for indent, name, second in re.findall(
        r"^([│ ]*)[├└]── (\w+)(?: \((\w+)\))?", errors.__doc__, flags=re.MULTILINE
    ):
        depth = len(indent) // 4 + 1
        parents[depth:] = [name]
        drawn[name] = [parents[depth - 1], *([second] if second else [])]
    declared = {
        name: [base.__name__ for base in error.__bases__]
        for name, error in ERRORS.items()
        if error is not FormatBenchError
    }
    assert drawn == declared


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        *((errors, old, new) for old, new in errors.OLD_NAMES.items()),
        *((adapter_core, old, new) for old, new in errors.OLD_NAMES.items()),
        (data_generator.errors, "BadData", errors.InvalidDataError),
        (data_generator.errors, "BadSpec", errors.InvalidSpecError),
        (data_generator.errors, "TooFewRows", errors.TooFewRowsError),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_old_names_give_the_new_errors_with_a_warning(module, old, new):
    with pytest.warns(DeprecationWarning, match=rf"{old} is now adapter_core\.errors\.{new.__name__}"):
        assert getattr(module, old) is new


@pytest.mark.parametrize("module", [adapter_core, errors, data_generator.errors])
def test_other_names_remain_unknown(module):
    with pytest.raises(AttributeError, match="no attribute 'Gone'"):
        module.Gone  # noqa: B018
