"""Readers in other languages: a folder each, built once, unavailable without their tools."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from adapter_core.errors import UnavailableError, UnknownNameError
from format_bench.cli.main import format_bench
from format_bench.compatibility import foreign
from tests.factories import foreign_toys


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(foreign, "FOLDER", tmp_path / "readers")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "readers"


def test_a_folder_is_a_reader(folder):
    foreign_toys.make(folder, "honest", "lying")
    assert foreign.names() == ["honest", "lying"]
    found = foreign.find("honest")
    assert found.availability()
    assert found.place == folder / "honest"
    with pytest.raises(UnknownNameError, match="did you mean honest"):
        foreign.find("honestt")


def test_readers_of_one_folder_are_built_together(folder, tmp_path):
    commands = 'build = [["touch", "made"]]', 'run = ["shared"]'
    own = "[readers.first]", "[readers.second]", 'title = "Second"', 'run = ["own"]'
    foreign_toys.declare(folder / "module", *commands, *own)
    assert foreign.names() == ["first", "second"]
    first, second = map(foreign.find, foreign.names())
    assert (first.declaration.title, first.declaration.run) == ("Toy", ["shared"])
    assert (second.declaration.title, second.declaration.run) == ("Second", ["own"])
    assert first.build() == second.place
    assert second.availability()
    assert len(list((tmp_path / "cache/formatbench/foreign_readers").iterdir())) == 1


def test_writers_are_labelled_by_format_and_implementation(folder):
    foreign_toys.make(folder, "honest")
    foreign_toys.make_writer(folder, "toy")
    (writer,) = foreign.writers().values()
    assert (writer.label, writer.implementation.name) == ("CSV[toy]", "toy")
    assert writer.command[1:] == ["write.py", "{file}"]


def test_a_reader_without_its_tools_is_unavailable(folder):
    foreign_toys.declare(folder / "odd", 'run = ["x"]', "[needs]", 'no-such-tool = "install it"')
    answer = foreign.find("odd").availability()
    assert (answer.reason, answer.install_hint) == ("no-such-tool is not installed", "install it")
    with pytest.raises(UnavailableError, match="no-such-tool"):
        foreign.find("odd").build()


def test_a_build_is_a_copy_of_this_state_of_the_folder(folder, tmp_path):
    foreign_toys.declare(folder / "built", 'run = ["x"]', 'build = [["touch", "made"], ["ls", "made"]]')
    reader = foreign.find("built")
    assert reader.availability().install_hint == "format-bench build built"
    place = reader.build()
    assert (place / "made").exists()
    assert place.is_relative_to(tmp_path / "cache")
    assert not (folder / "built" / "made").exists()
    assert foreign.find("built").availability()
    (folder / "built" / "more").write_text("another state")
    assert not foreign.find("built").availability()


def test_a_failed_build_leaves_nothing(folder, tmp_path):
    foreign_toys.declare(folder / "broken", 'run = ["x"]', 'build = [["ls", "no-such-file"]]')
    with pytest.raises(UnavailableError, match=r"ls no-such-file failed: .*no-such-file"):
        foreign.find("broken").build()
    assert not list((tmp_path / "cache").rglob("broken*"))


def test_a_wrong_declaration_is_named(folder):
    foreign_toys.declare(folder / "odd", "runs = []")
    with pytest.raises(ValueError, match=r"odd/reader\.toml: .*run"):
        foreign.find("odd")
    foreign_toys.declare(folder / "odd", "run = [")
    with pytest.raises(ValueError, match=r"odd/reader\.toml: "):
        foreign.names()


def test_declared_readers_are_valid_and_can_be_built_by_name():
    for name in foreign.names():
        assert foreign.find(name).declaration.suffixes
    told = CliRunner().invoke(format_bench, ["build", "--help"]).output
    assert all(name in told for name in foreign.names())
