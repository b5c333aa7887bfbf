"""Environments of adapters: where they are, what they have, and what is said where they are not."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import data_formats
from adapter_core import Availability, UnavailableError, environments
from adapter_core.environments import OwnEnvironment
from adapter_core.listing import declarations
from data_formats.pickle import Adapter as Pickle
from tests.factories.library_sets import make_library_set
from tests.helpers import ROOT

NAMES = {
    each.environment
    for folder in ("data_formats", "query_engines", "training_loaders")
    for each in declarations(ROOT / folder)
    if each.environment
}


class Toy(Pickle):
    label = "Toy"
    requires = ("pandas", "no_such_package")
    environment = "toy"


@pytest.fixture
def lock(tmp_path, monkeypatch):
    """Return the lock of an environment that is not built."""
    monkeypatch.setattr(environments, "LOCKS", tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "toy.txt").write_text("no_such_package==1.0 --hash=sha256:0\n")
    return tmp_path / "toy.txt"


def build():
    place = OwnEnvironment("toy").place
    make_library_set(place, place / "ran")
    return place


def test_each_environment_has_a_lock_with_hashes_and_each_lock_an_adapter():
    assert environments.names() == sorted(NAMES)
    for name in NAMES:
        text = (environments.LOCKS / f"{name}.txt").read_text(encoding="utf-8")
        pinned = re.findall(r"^[\w.-]+==", text, re.MULTILINE)
        hashed = re.findall(r"^[\w.-]+==[^\n]*\\\n    --hash=sha256:", text, re.MULTILINE)
        assert len(pinned) == len(hashed) > 10


def test_an_adapter_without_its_environment_names_the_command(lock):
    for answer in (Toy().availability(), Toy().installed()):
        assert answer == Availability(
            available=False,
            reason="its environment toy is not built",
            install_hint="format-bench build environment toy",
        )
    with pytest.raises(UnavailableError, match="Toy is unavailable: its environment toy is not built"):
        OwnEnvironment("toy").interpreter("Toy")
    lock.unlink()
    assert Toy().installed().reason == "its environment toy has no lock environments/toy.txt"


@pytest.mark.usefixtures("lock")
def test_the_libraries_of_a_built_environment_are_installed_but_not_here():
    place = build()
    assert Toy().installed().versions == {"pandas": "0.0.1"}
    assert OwnEnvironment("toy").interpreter("Toy") == str(place / "bin" / "python")
    assert OwnEnvironment("toy").python_version == "3.11.0"
    answer = Toy().availability()
    assert not answer
    assert answer.reason == "its libraries are in its environment toy, whose interpreter measures it"


@pytest.mark.usefixtures("lock")
def test_within_it_a_broken_library_is_the_reason(monkeypatch):
    monkeypatch.setattr(sys, "prefix", str(build()))
    assert Toy().availability().reason == "no_such_package is not installed"


def test_another_lock_is_another_environment(lock):
    first = OwnEnvironment("toy").place
    assert first == OwnEnvironment("toy").place
    lock.write_text("no_such_package==1.1 --hash=sha256:0\n")
    assert OwnEnvironment("toy").place != first
    assert first.parent == Path(lock.parent, "cache", "formatbench", "environments")


def test_its_libraries_are_in_no_extra():
    assert NAMES
    own = [each for each in declarations(ROOT / "data_formats") if each.environment]
    constraints = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    assert not [each.label for each in own if f"\n{each.stem}==" in constraints]
    assert {each.label for each in own} <= {*data_formats.names()}
