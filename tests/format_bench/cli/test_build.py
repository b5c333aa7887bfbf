"""Tests of the builds of parts that are not in Python."""

import pytest
from click.testing import CliRunner

from format_bench.cli.commands import build
from format_bench.cli.main import format_bench
from format_bench.results.suites import SUITES


@pytest.fixture
def bare(tmp_path, monkeypatch):
    """Leave a user an empty cache, and no program."""
    for name in ("XDG_CACHE_HOME", "PATH"):
        monkeypatch.setenv(name, str(tmp_path))
    for name in ("FORMAT_BENCH_JAVA", "JAVA_HOME"):
        monkeypatch.delenv(name, raising=False)


def called(*arguments):
    return CliRunner().invoke(format_bench, ["build", *arguments])


@pytest.mark.usefixtures("bare")
def test_suites_name_the_parts_that_they_need_each_once():
    done = called("suites", "remote", "scale", "records", "tabular", "--optional")
    assert done.exit_code == 0
    lines = done.output.splitlines()
    assert [line.split(" unavailable: ")[0] for line in lines] == [
        "the object server is",
        "the record formats of the JVM are",
    ]


@pytest.mark.usefixtures("bare")
def test_a_part_that_cannot_be_built_is_an_error_unless_it_is_optional():
    done = called("suites", "scale")
    assert done.exit_code
    assert "Go is not installed" in str(done.exception)


def test_suites_without_parts_build_nothing():
    done = called("suites", "tabular", "image")
    assert (done.exit_code, done.output) == (0, "")


def test_an_unknown_suite_is_named():
    assert "no suite 'remot'; did you mean remote" in str(called("suites", "remot").exception)


def test_only_suites_and_environments_take_names():
    done = called("jvm", "records")
    assert done.exit_code == 2
    assert "jvm takes no names" in done.output


@pytest.mark.parametrize(
    "suite", [each for each in SUITES.values() if each.parts], ids=lambda each: each.name
)
def test_declared_parts_can_be_built_by_name(suite):
    (choice,) = (each.type for each in build.command.params if each.name == "part")
    assert set(suite.parts) <= set(choice.choices)
