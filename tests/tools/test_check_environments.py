"""Contract tests in the environments of adapters: one command for each environment."""

from __future__ import annotations

import pytest

from adapter_core.environments import names
from format_bench.library_sets import environments
from tools import check_environments


def test_only_environments_with_engines_run_the_tests_of_engines():
    with_engines = {
        name for name in names() if "tests/query_engines" in check_environments.command(name, "python")
    }
    assert with_engines == {"chdb", "daft", "geospatial", "vss"}


@pytest.fixture
def pretended(monkeypatch, tmp_path):
    """Return a function that runs the tool with a program in place of each environment's Python."""
    calls = tmp_path / "calls"

    def run(status, *wanted):
        for name in wanted:
            program = tmp_path / name / "bin" / "python"
            program.parent.mkdir(parents=True)
            program.write_text(f"#!/bin/sh\necho {name} $* >> {calls}\nexit {status[name]}\n")
            program.chmod(0o755)
        monkeypatch.setattr(environments, "build", lambda name: tmp_path / name)
        return check_environments.main([*wanted]), calls.read_text().splitlines()

    return run


def test_each_environment_is_tested_and_a_failure_is_the_status(pretended, capfd):
    status, calls = pretended({"arcticdb": 1, "vss": 0}, "arcticdb", "vss")
    assert status == 1
    tests = (
        "-m pytest -q --adapters environment format_bench/conformance "
        "tests/adapter_core/test_snippets.py "
        "tests/data_formats/test_column_sums.py tests/data_formats/test_features.py"
    )
    assert calls == [f"arcticdb {tests}", f"vss {tests} tests/query_engines"]
    assert capfd.readouterr().err == "failed: arcticdb\n"


def test_the_tests_of_formats_exist():
    assert all((check_environments.ROOT / each).exists() for each in check_environments.OF_FORMATS)


def test_an_unknown_environment_is_one_line(capfd):
    assert check_environments.main(["nowhere"]) == 1
    assert "no environment with a lock 'nowhere'" in capfd.readouterr().err.splitlines()[0]
