"""Months without faults, with stand-ins for the packages and for asv's measuring."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.factories.cron_sandbox import World
from tests.helpers import git


@pytest.fixture
def world(tmp_path):
    return World(tmp_path).make()


@pytest.fixture(scope="module")
def months(tmp_path_factory):
    """Return a server that has measured three months."""
    made = World(tmp_path_factory.mktemp("months")).make()
    for month, version in (("02", "2.0"), ("03", "3.0"), ("04", "4.0")):
        made.next_set(version)
        made.run(f"2026-{month}-01")
    return made


def test_three_months_are_three_commits_three_tags_and_three_points(months):
    assert len(months.log("main")) == 4
    assert months.log("main")[0] == "Renew the library set: pyarrow==3.0 -> pyarrow==4.0"
    assert months.results() == {
        f"2026-0{month}": {"alpha": (float(month), 2), "beta": (float(month), 2)} for month in (2, 3, 4)
    }
    changed = git(months.remote, "diff", "--name-only", "main~3", "main").split()
    assert changed == ["constraints.lock", "constraints.txt"]
    assert len(git(months.remote, "show", "gh-pages:index.html").split()) == 3
    dates = git(months.remote, "log", "-3", "--format=%as", "main").split()
    assert dates == ["2026-04-01", "2026-03-01", "2026-02-01"]


def test_where_nothing_has_changed_samples_are_added(months, tmp_path):
    world = months.copied(tmp_path)
    (world.folder / "other/README.md").write_text("words alone")
    git(world.folder / "other", "pull", "--quiet", "--rebase", "origin", "main")
    world.push_from_elsewhere("Say more")
    output = world.run("2026-05-01").stdout
    assert "nothing has changed since 2026-04: samples are added to its commit" in output
    results = world.results()
    assert results["2026-04"] == results["2026-05"] == {"alpha": (4, 4), "beta": (4, 4)}
    assert world.log("main")[0] == "Say more"


def test_a_changed_adapter_is_a_point_of_its_own(months, tmp_path):
    world = months.copied(tmp_path)
    git(world.folder / "other", "pull", "--quiet", "--rebase", "origin", "main")
    (world.folder / "other/adapter_core/more.py").touch()
    world.push_from_elsewhere("Add an adapter")
    world.run("2026-05-01")
    assert world.results()["2026-05"] == {"alpha": (4, 2), "beta": (4, 2)}
    assert world.commit_of("2026-04") != world.commit_of("2026-05") == world.commit_of("main")


def test_environments_of_formats_are_built_before_they_are_measured(months, tmp_path):
    world = months.copied(tmp_path)
    git(world.folder / "other", "pull", "--quiet", "--rebase", "origin", "main")
    (world.folder / "other/environments").mkdir()
    (world.folder / "other/environments/toy.txt").write_text("six==1.17.0 --hash=sha256:0\n")
    world.push_from_elsewhere("Add an environment")
    world.at("build environment", 'touch "$CRON_WORLD/built"\n')
    world.at("run alpha", 'test -e "$CRON_WORLD/built"\n')
    done = world.run("2026-05-01")
    assert done.returncode == 0, done.stdout
    assert "building beside the packages: environment" in done.stdout


def test_what_a_suite_declares_beside_the_packages_is_built_before_it(months, tmp_path):
    world = months.copied(tmp_path)
    git(world.folder / "other", "pull", "--quiet", "--rebase", "origin", "main")
    world.declare_gamma(hours=9)
    world.at("build jars", 'touch "$CRON_WORLD/jars"\n')
    world.at("run gamma A", 'test -e "$CRON_WORLD/jars"\n')
    # A part that does not build stops no suite.
    world.at("build server", "exit 1\n")
    done = world.run("2026-05-01")
    assert done.returncode == 0, done.stdout
    assert "building beside the packages: server" in done.stdout


def test_a_second_run_in_a_month_doubles_nothing(months):
    before = months.references()
    assert months.run("2026-04-11").returncode == 0
    assert months.references() == before


def test_history_survives_the_machine(months, tmp_path):
    world = months.copied(tmp_path)
    shutil.rmtree(world.server)
    git(world.folder, "clone", "--quiet", str(world.remote), str(world.server))
    world.next_set("5.0")
    world.run("2026-05-01")
    assert len(world.results()) == 4
    assert len(list(world.clone.glob(".asv/tiny/results/*/*-env.json"))) == 4
    assert len(git(world.remote, "show", "gh-pages:index.html").split()) == 4


def test_a_machine_set_up_anew_keeps_its_graphs(months, tmp_path):
    world = months.copied(tmp_path)
    (world.folder / ".asv-machine.json").unlink()
    world.at("describe", "echo 'its kernel, and so its description, is another one'; exit 1\n")
    world.next_set("5.0")
    assert world.run("2026-05-01").returncode == 0
    assert len(world.results()) == 4


def test_the_month_that_another_machine_has_tagged_is_measured_here_too(months, tmp_path):
    world = months.copied(tmp_path)
    git(world.remote, "update-ref", "-d", "refs/heads/results")
    shutil.rmtree(world.clone)
    world.next_set("5.0")
    world.run("2026-04-02")
    assert world.commit_of("2026-04") == world.commit_of("main") == months.commit_of("2026-04")
    names = git(world.remote, "ls-tree", "-r", "--name-only", "results").split()
    assert [Path(name).name for name in names if name.endswith("-env.json")] == [
        f"{world.commit_of('main')[:8]}-env.json"
    ]


def test_the_log_has_dates(months):
    lines = (months.server / ".asv/cron.log").read_text().splitlines()
    assert sum(line.endswith(" begin") for line in lines) >= 3
    assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ ", line) for line in lines)


def test_a_month_ends_with_a_summary_in_one_line(months):
    assert re.fullmatch(
        r"FormatBench on \S+, status 0: 2026-02: measured commit [0-9a-f]{8} "
        r"\(Renew the library set: pyarrow==1.0 -> pyarrow==2.0\)",
        months.notified()[0],
    )


def test_a_dry_run_on_a_bare_machine_prints_the_plan_and_does_nothing(world):
    before = sorted(world.folder.rglob("*"))
    done = world.run("2026-02-01", "--dry-run")
    assert done.returncode == 0
    assert sorted(world.folder.rglob("*")) == before
    for line in (
        f"remote: {world.remote}",
        "would clone it to .asv/monthly",
        "would install the packages of constraints.txt in .asv/monthly/.venv",
        "would fetch, and renew constraints.txt; if it changes: install it for a trial, commit, tag",
        "would run at tiny scale: alpha beta",
        "would run: cat >> ",
    ):
        assert line in done.stdout


def test_a_dry_run_names_an_unfinished_month(world):
    world.kill_at("2026-02-01", "run beta")
    assert "would first finish 2026-02, of which these are left: beta\n" in planned(world)
    world.run("2026-02-01")
    assert "would first finish" not in planned(world)
    (world.clone / ".asv/tiny/month.json").write_text("{}")
    assert "month.json is not the state of a monthly run; remove it" in planned(world)


def planned(world):
    return world.run("2026-02-01", "--dry-run").stdout


def test_quick_is_another_scale(world):
    assert "at quick scale" in world.run("2026-02-01", "--dry-run", "--quick").stdout


def test_help_lists_every_status(world):
    done = world.run("2026-02-01", "--help")
    assert done.returncode == 0
    statuses = done.stdout.partition("Exit status: ")[2]
    assert re.findall(r"(?:^|; )(\d+) ", statuses.replace("\n", " ")) == [*"0123456789", "143"]


def test_an_unknown_option_is_refused(world):
    done = world.run("2026-02-01", "--fast")
    assert done.returncode == 2
    assert done.stderr == "cron.sh: there is no option --fast; cron.sh --help lists them\n"


def test_what_does_not_fit_into_a_suites_hours_comes_first_in_the_next_month(world):
    world.declare_gamma(hours=0.5)
    left_out = []
    for month in ("02", "03", "04"):
        world.next_set(f"{month}.0")
        done = world.run(f"2026-{month}-01")
        assert done.returncode == 0, done.stdout + done.stderr
        left_out += re.findall(r"suite gamma: its 0.5 hours do not suffice for (.*)", done.stdout)
    # The first portion is measured in any case; what earlier months have measured takes no time here.
    assert left_out == ["B, C", "C"]
    formats = [world.formats_of_gamma(f"2026-{month}") for month in ("02", "03", "04")]
    assert formats == ["A", "AB", "ABC"]
    assert world.notified()[0].endswith("; out of time for 2 formats of gamma")
    reasons = git(world.remote, "show", "results:tiny/results/reasons/env.jsonl")
    assert (
        reasons.count("the 0.5 hours of the suite gamma were spent; it comes first in the next month")
        == 3
    )


def test_a_month_notes_which_formats_lacked_hours_for_a_step(world):
    world.declare_gamma(hours=9)
    (world.folder / "cut_short").write_text("C")
    world.next_set("2.0")
    assert world.run("2026-02-01").returncode == 0
    (name,) = git(world.remote, "ls-tree", "--name-only", "results", "tiny/results/costs/").split()
    costs = map(json.loads, git(world.remote, "show", f"results:{name}").splitlines())
    whole = {label: each["is_whole"] for each in costs for label in each["seconds"]}
    assert whole == {"A": True, "B": True, "C": False}


@pytest.mark.parametrize("moment", ["run gamma B", "saved gamma B"])
def test_a_kill_loses_no_more_than_the_formats_under_way(world, moment):
    world.declare_gamma(hours=9)
    world.next_set("2.0")
    world.kill_at("2026-02-01", moment)
    assert world.run("2026-02-02").returncode == 0
    assert world.formats_of_gamma("2026-02") == "ABC"
    log = (world.server / ".asv/cron.log").read_text()
    assert [log.count(f"suite gamma: {label}\n") for label in "ABC"] == [1, 1 + ("run" in moment), 1]
    assert not list(world.clone.glob(".asv/tiny/data/*"))


def test_a_dry_run_prints_the_hours_and_their_source(world):
    world.declare_gamma(hours=0.5)
    git(world.server, "pull", "--quiet")
    before = sorted(world.folder.rglob("*"))
    done = world.run("2026-02-01", "--dry-run")
    assert sorted(world.folder.rglob("*")) == before
    assert "alpha: no estimate, since it is not declared" in done.stdout
    assert "gamma: 0.5 of at most 0.5 hours for 1 of 3 formats; " in done.stdout
    assert "by typical costs; first in the next month: B, C" in done.stdout
    assert "in all: 0.5 of at most 0.5 hours; up to " in done.stdout
    world.run("2026-02-01")
    again = world.run("2026-03-01", "--dry-run").stdout
    assert "by the costs of 2026-02, of 2 formats typical ones; first in the next month: C" in again
