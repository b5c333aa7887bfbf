"""Months without faults, with stand-ins for the packages and for asv's measuring."""

from __future__ import annotations

import shutil

import pytest

from tests.conftest import git
from tests.cron_world import World


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def test_three_months_are_three_commits_three_tags_and_three_points(world):
    for month, version in (("02", "2.0"), ("03", "3.0"), ("04", "4.0")):
        world.next_set(version)
        done = world.run(f"2026-{month}-01")
        assert done.returncode == 0, done.stdout + done.stderr
    assert len(world.log("main")) == 4
    assert world.log("main")[0] == "Renew the library set: pyarrow==3.0 -> pyarrow==4.0"
    assert world.results() == {
        f"2026-0{month}": {"alpha": (float(month), 2), "beta": (float(month), 2)} for month in (2, 3, 4)
    }
    changed = git(world.remote, "diff", "--name-only", "main~3", "main").split()
    assert changed == ["constraints.txt"]
    assert len(git(world.remote, "show", "gh-pages:index.html").split()) == 3
