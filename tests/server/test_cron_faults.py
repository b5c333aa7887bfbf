"""Faults of a monthly run, each alone, and the run after it: nothing is lost or doubled."""

from __future__ import annotations

import time

import pytest

from tests.factories.cron_sandbox import World, wait_for
from tests.helpers import git

pytestmark = pytest.mark.slow

WHOLE = {"2026-02": {"alpha": (2, 2), "beta": (2, 2)}}
"""What February leaves if nothing goes wrong: two samples a benchmark, of version 2.0."""
TWICE = {"alpha": (2, 4), "beta": (2, 4)}
NEXT = {"2026-03": {"alpha": (3, 2), "beta": (3, 2)}}


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    made = World(tmp_path_factory.mktemp("bare")).make()
    made.next_set("2.0")
    return made


@pytest.fixture
def world(bare, tmp_path):
    """Return a server on which cron.sh has never run; version 2.0 can be had."""
    return bare.copied(tmp_path)


@pytest.fixture(scope="module")
def february(bare, tmp_path_factory):
    made = bare.copied(tmp_path_factory.mktemp("february"))
    made.run("2026-02-01")
    assert made.results() == WHOLE
    return made


@pytest.fixture
def later(february, tmp_path):
    """Return a server that has measured February."""
    return february.copied(tmp_path)


def recovers(world, day="2026-02-02", expected=WHOLE):
    """Run again, and look for all of the month and nothing twice."""
    done = world.run(day)
    assert done.returncode == 0, done.stdout + done.stderr
    assert world.results() == expected
    assert world.log("main").count("Renew the library set: pyarrow==1.0 -> pyarrow==2.0") == 1
    assert world.sent()


def test_killed_at_every_step_one_after_the_other(world):
    for moment in ("renew", "install", "run alpha", "saved alpha", "run beta", "site"):
        world.kill_at("2026-02-01", moment)
    recovers(world)


@pytest.mark.nightly
def test_killed_and_called_again_next_month(world):
    world.kill_at("2026-02-01", "run beta")
    world.next_set("3.0")
    recovers(world, "2026-03-01", WHOLE | NEXT)


@pytest.mark.nightly
def test_killed_as_it_wrote_results(world):
    world.kill_at("2026-02-01", "run beta")
    (path,) = world.clone.glob(".asv/tiny/results/*/*-env.json")
    path.write_text(path.read_text()[:-20])
    recovers(world)


@pytest.mark.parametrize("moment", ["run beta", "saved beta"])
def test_killed_as_samples_were_added(later, moment):
    later.kill_at("2026-03-01", moment)
    recovers(later, "2026-03-02", {"2026-02": TWICE, "2026-03": TWICE})


@pytest.mark.nightly
@pytest.mark.parametrize("hook", ["pre-receive", "post-receive"])
def test_killed_during_a_push(world, hook):
    path = world.remote / "hooks" / hook
    path.write_text(f"#!/bin/sh\ntouch {world.folder}/reached; exec sleep 60\n")
    path.chmod(0o755)
    world.run_and_kill("2026-02-01", world.folder / "reached")
    path.unlink()
    recovers(world)


def test_ended_by_a_signal(world):
    world.at("run beta", f"touch {world.folder}/reached; sleep 60\n")
    process = world.start("2026-02-01")
    wait_for(world.folder / "reached")
    process.terminate()
    assert process.wait(timeout=20) == 143
    assert world.notified()[-1].endswith("status 143: ended by a signal; the next run resumes")
    recovers(world)


def test_a_push_refused_by_a_newer_commit_is_tried_again_on_top_of_it(world):
    world.at("install", world.pushing("Someone was first"))
    recovers(world, "2026-02-01")
    assert world.log("main")[1] == "Someone was first"


def test_results_of_two_machines_are_all_kept(later):
    other = later.folder / "other"
    git(other, "fetch", "--quiet", "origin")
    git(other, "checkout", "--quiet", "origin/results")
    (other / "tiny/results/elsewhere").mkdir()
    (other / "tiny/results/elsewhere/machine.json").write_text("{}")
    notes = other / "tiny/results/reasons/env.jsonl"
    notes.write_text(notes.read_text() + '{"suite": "elsewhere"}\n')
    later.at("saved beta", later.pushing("Results of another machine", "results"))
    later.next_set("3.0")
    recovers(later, "2026-03-01", WHOLE | NEXT)
    assert git(later.remote, "show", "results:tiny/results/elsewhere/machine.json") == "{}"
    lines = git(later.remote, "show", "results:tiny/results/reasons/env.jsonl").splitlines()
    assert len(lines) == len(set(lines)) == 5


@pytest.mark.nightly
def test_the_first_results_of_two_machines_are_all_kept(world):
    other = world.folder / "other"
    git(other, "checkout", "--quiet", "--orphan", "results")
    git(other, "rm", "-r", "--quiet", "--force", ".")
    (other / "tiny/results/elsewhere").mkdir(parents=True)
    (other / "tiny/results/elsewhere/machine.json").write_text("{}")
    world.at("saved beta", world.pushing("First results of another machine", "results"))
    recovers(world, "2026-02-01")
    assert git(world.remote, "show", "results:tiny/results/elsewhere/machine.json") == "{}"


@pytest.mark.nightly
def test_a_site_that_someone_else_pushed_first_is_followed(later):
    git(later.folder / "other", "fetch", "--quiet", "origin")
    git(later.folder / "other", "checkout", "--quiet", "origin/gh-pages")
    later.at("site", later.pushing("A site of another machine", "gh-pages"))
    later.next_set("3.0")
    recovers(later, "2026-03-01", WHOLE | NEXT)
    assert later.log("gh-pages", "--first-parent")[1] == "A site of another machine"


def test_results_unsent_to_a_remote_out_of_reach_are_sent_by_the_next_run(later):
    away = later.remote.rename(later.folder / "away.git")
    later.next_set("3.0")
    assert later.run("2026-03-01").returncode == 7
    assert "kept for the next run: git push failed: fatal: " in later.notified()[-1]
    away.rename(later.remote)
    later.next_set("4.0")
    recovers(later, "2026-04-01", WHOLE | NEXT | {"2026-04": {"alpha": (4, 2), "beta": (4, 2)}})


@pytest.mark.nightly
def test_unsent_commits_are_merged_with_those_of_others(later):
    later.next_set("3.0")
    later.at("renew", f"mv {later.remote} {later.folder}/away.git\n")
    assert later.run("2026-03-01").returncode == 7
    (later.folder / "away.git").rename(later.remote)
    git(later.folder / "other", "pull", "--quiet", "--rebase", "origin", "main")
    later.push_from_elsewhere("Someone works on")
    recovers(later, "2026-03-02", WHOLE | NEXT)
    assert later.commit_of("2026-03") == later.commit_of("main^1")
    assert "Someone works on" in later.log("main")


def test_a_remote_that_was_never_reached_ends_the_run(world):
    world.remote.rename(world.folder / "away.git")
    done = world.run("2026-02-01")
    assert done.returncode == 9
    assert "cannot be cloned" in done.stdout


def test_too_little_disk_or_memory_ends_the_run_at_its_start(world):
    for variable, resource in (("CRON_DISK_GB", "disk"), ("CRON_MEMORY_GB", "memory")):
        done = world.run("2026-02-01", **{variable: "1000000"})
        assert done.returncode == 4
        assert f"GB of {resource} are free; 1000000 are needed" in done.stdout
        assert not world.clone.exists()
    recovers(world)


@pytest.mark.nightly
def test_the_disk_of_temporary_files_counts_too(world):
    # What lies in /proc is on no disk, so none of it is free.
    done = world.run("2026-02-01", CRON_DISK_GB="1", TMPDIR="/proc")
    assert done.returncode == 4
    assert "0 GB of disk are free; 1 are needed" in done.stdout
    recovers(world)


def test_a_disk_that_fills_up_in_a_suite(world):
    results = world.clone / ".asv/tiny/results"
    world.at(
        "saved beta",
        f"for file in {results}/*/*-env.json; do truncate --size=-20 $file; done\n"
        "echo 'OSError: [Errno 28] No space left on device' >&2; exit 1\n",
    )
    assert world.run("2026-02-01").returncode == 6
    assert world.results() == {"2026-02": {"alpha": (2, 2)}}
    recovers(world)


def test_a_torn_file_of_results_loses_no_suite_that_had_ended(world):
    (world.folder / "other/benchmarks/gamma.py").touch()
    world.push_from_elsewhere("Add a suite")
    results = world.clone / ".asv/tiny/results"
    world.at(
        "saved beta", f"for file in {results}/*/*-env.json; do truncate --size=-20 $file; done; exit 1\n"
    )
    assert world.run("2026-02-01").returncode == 6
    assert world.results() == {"2026-02": {"alpha": (2, 2), "gamma": (2, 2)}}


@pytest.mark.parametrize(
    ("variable", "value"),
    [("CRON_DATE", "tomorrow"), ("CRON_DATE", "2026-02-30"), ("CRON_RETRY_SECONDS", "60s")],
)
def test_a_variable_that_means_nothing_is_refused_before_anything_is_done(world, variable, value):
    done = world.run("2026-02-01", **{variable: value})
    assert done.returncode == 2
    assert f"cron.sh: {variable} is '{value}'" in done.stderr + done.stdout
    assert not world.clone.exists()


def test_samples_are_added_on_another_machine_and_after_a_lost_state_too(later):
    assert later.run("2026-03-01").returncode == 0
    (later.clone / ".asv/tiny/month.json").unlink()
    assert later.run("2026-03-02").returncode == 0
    assert later.results()["2026-03"] == {"alpha": (2, 6), "beta": (2, 6)}


@pytest.mark.nightly
def test_a_disk_that_fills_up_as_results_are_committed(world):
    world.tool(
        "git", 'case "$*" in *commit-tree*) echo "fatal: No space left on device" >&2; exit 128 ;; esac'
    )
    done = world.run("2026-02-01")
    assert done.returncode == 4
    assert "No space left on device" in world.notified()[-1]
    (world.folder / "tools/git").unlink()
    recovers(world)


@pytest.mark.nightly
def test_a_set_that_does_not_resolve_leaves_the_old_one(later):
    later.next_set("unresolvable")
    assert later.run("2026-03-01").returncode == 5
    assert "could not be resolved: library_sets: because unresolvable 1.0" in later.notified()[-1]
    assert later.results() == {"2026-02": TWICE, "2026-03": TWICE}


def test_a_set_that_does_not_install_leaves_the_old_one_until_one_does(later):
    later.next_set("broken")
    assert later.run("2026-03-01").returncode == 5
    reason = "the renewed set could not be installed: ERROR: No matching distribution found for broken"
    assert reason in later.notified()[-1]
    later.next_set("4.0")
    expected = {"2026-02": TWICE, "2026-03": TWICE, "2026-04": {"alpha": (4, 2), "beta": (4, 2)}}
    recovers(later, "2026-04-01", expected)


def test_a_suite_that_fails_does_not_stop_the_others(world):
    (world.folder / "broken_alpha").touch()
    assert world.run("2026-02-01").returncode == 6
    assert world.notified()[-1].endswith("suites failed: alpha")
    assert world.results() == {"2026-02": {"beta": (2, 2)}}
    (world.folder / "broken_alpha").unlink()
    recovers(world)


@pytest.mark.nightly
def test_samples_that_were_added_badly_are_put_back(later):
    lost = 's/"alpha.time_it": ..2.0/"alpha.time_it": [[null/'
    later.at("saved alpha", f"sed --in-place '{lost}' {later.clone}/.asv/tiny/results/*/*-env.json\n")
    assert later.run("2026-03-01").returncode == 6
    assert "suite alpha has 1 values where it had 2" in (later.server / ".asv/cron.log").read_text()
    assert later.results()["2026-03"] == {"alpha": (2, 2), "beta": (2, 4)}


@pytest.mark.nightly
def test_a_comparison_that_fails_does_not_stop_publishing(world):
    world.at("comparison", "exit 3\n")
    done = world.run("2026-02-01")
    assert done.returncode == 6
    assert "the comparison failed with status 1" in done.stdout
    assert world.results() == WHOLE


def test_two_at_once(world):
    world.at("run alpha", f"touch {world.folder}/reached; sleep 1.5\n")
    first = world.start("2026-02-01")
    wait_for(world.folder / "reached")
    second = world.run("2026-02-01")
    assert second.returncode == 3
    assert second.stderr.startswith(
        f"cron.sh: another run holds .asv/cron.lock: process {first.pid}, since {time.strftime('%Y-')}"
    )
    assert first.wait(timeout=60) == 0
    assert world.results() == WHOLE


@pytest.mark.nightly
def test_a_checkout_that_someone_works_in_is_left_alone(world):
    (world.server / "benchmarks/alpha.py").write_text("unfinished")
    git(world.server, "checkout", "--quiet", "--detach")
    before = git(world.server, "status", "--porcelain", "--branch")
    recovers(world, "2026-02-01")
    assert git(world.server, "status", "--porcelain", "--branch") == before


def test_a_clone_that_someone_worked_in_is_made_clean(world):
    world.kill_at("2026-02-01", "run beta")
    git(world.clone, "checkout", "--quiet", "--detach", "HEAD~1")
    (world.clone / "constraints.txt").write_text("pyarrow==9.0\n")
    (world.clone / "benchmarks/stray.py").touch()
    (world.clone / ".git/index.lock").touch()
    recovers(world)


def test_a_clock_that_is_set_back_adds_no_point(later):
    before = later.references()
    later.next_set("3.0")
    done = later.run("2026-01-20")
    assert done.returncode == 8
    assert (
        "the clock says 2026-01, but 2026-02 is measured already; set it right" in later.notified()[-1]
    )
    assert later.references() == before
    recovers(later, "2026-03-01", WHOLE | NEXT)


def test_a_commit_is_not_dated_before_its_parent(world):
    done = world.run("2026-01-14")
    assert done.returncode == 8
    assert "the newest commit is of 2026-01-15 12:00; set it right" in done.stdout
    assert world.log("main") == ["All"]


@pytest.mark.nightly
def test_a_defect_is_not_met_again_and_again(later):
    (later.clone / ".asv/tiny/month.json").write_text("{")
    later.next_set("3.0")
    assert later.run("2026-03-01").returncode == 1
    recovers(later, "2026-03-02", WHOLE | NEXT)
