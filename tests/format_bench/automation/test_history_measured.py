"""A history measured by asv in real environments: of a toy project, whose libraries are tiny.

One run is killed after its first suite and goes on; another meets a day without a set, and one whose set
does not install.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, date, datetime

import pytest

from format_bench.automation.history import history
from format_bench.automation.history.branch import Branch, checkout
from format_bench.automation.history.history import DayEntry
from format_bench.automation.history.past_sets import PastSet
from format_bench.library_sets import ResolutionError, outcomes, resolve
from tests.factories.fake_project import toy_checkout
from tests.helpers import ROOT, git, own_home

pytestmark = [pytest.mark.slow, pytest.mark.nightly, pytest.mark.timeout(900)]
"""asv makes environments and measures before the first test."""

EARLY, GOOD, BAD = date(2015, 6, 1), date(2024, 3, 1), date(2025, 6, 1)
BROKEN = PastSet(BAD, "six==99.0\n")
"""As if its files had been removed from the index since."""
COMMAND = ("-m", "format_bench", "history", "--from", "2024-03", "--to", "2024-03", "--scale", "tiny")
WAIT_SECONDS = 500


def start(folder, *arguments):
    """Start Python with a group of processes of its own."""
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def killed_after_the_first_suite(folder):
    run = start(folder, *COMMAND)
    note = folder / ".asv/tiny/results/sets"
    until = time.monotonic() + WAIT_SECONDS
    while not note.is_dir() and run.poll() is None and time.monotonic() < until:
        time.sleep(0.1)
    os.killpg(run.pid, signal.SIGKILL)
    run.communicate()
    return run.returncode


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Return the checkout in which all was measured, and observations on the way."""
    try:
        resolve(["six"], "3.11")
    except ResolutionError as error:
        pytest.skip(f"no package index is in reach: {error}")
    folder = toy_checkout(tmp_path_factory.mktemp("history") / "toy")
    with pytest.MonkeyPatch.context() as patch:
        # Packages are compiled as they are imported.
        changed = own_home(folder.parent) | {"PIP_COMPILE": "0", "PYTHONPATH": str(ROOT)}
        for name, value in changed.items():
            patch.setenv(name, value)
        branch = Branch(checkout(folder), "history")
        history.make(branch, [EARLY], dry_run=False)
        seen = {"killed": killed_after_the_first_suite(folder)}
        seen["log"] = (folder / ".asv/tiny/history.log").read_text(encoding="utf-8")
        again = start(folder, *COMMAND)
        seen["printed"], _ = again.communicate()
        seen["status"] = again.returncode
        commits = branch.commits()
        others = [DayEntry(branch.set_of(commits[EARLY]), commits[EARLY])]
        others.append(DayEntry(BROKEN, branch.add(BROKEN, "main")))
        seen["others"] = history.measure(folder, others, "tiny", ["second", "toy"])
        conf = (folder / "asv.conf.json").read_text(encoding="utf-8").replace("full", "tiny")
        (folder / ".asv.tiny.json").write_text(conf, encoding="utf-8")
        published = start(folder, "-m", "asv", "publish", "--config", ".asv.tiny.json")
        seen["published"], _ = published.communicate()
    return folder, seen


def note_of(project, day):
    found = [each for each in outcomes.read(project[0] / ".asv/tiny/results") if each.day == str(day)]
    assert len(found) == 1
    return found[0]


def values(folder, commit):
    """Return the values of a commit that asv has kept, by the name of their benchmark."""
    (path,) = (folder / ".asv/tiny/results").glob(f"*/{commit[:8]}-*.json")
    results = json.loads(path.read_text(encoding="utf-8"))["results"]
    return {name: facts[0][0] for name, facts in results.items()}


def test_a_set_is_measured_with_its_libraries_and_no_others(project):
    folder, _ = project
    note = note_of(project, GOOD)
    assert note.status == "measured"
    assert note.left_out.keys() == {"tomli-w>=2"}
    found = values(folder, note.commit)
    assert {found[f"{suite}.track_minor_version"] for suite in ("second", "toy")} == {16}
    assert found["toy.track_cachetools"] == 1
    assert found["toy.track_tomli_w"] == 0


def test_a_killed_run_goes_on_where_it_was(project):
    folder, seen = project
    assert seen["killed"] == -signal.SIGKILL
    assert note_of(project, GOOD).suites == ["second", "toy"]
    assert seen["status"] == 0, seen["printed"]
    whole = (folder / ".asv/tiny/history.log").read_text(encoding="utf-8")
    after = whole.removeprefix(seen["log"])
    assert "second.track_minor_version" in seen["log"]
    assert "second.track_minor_version" not in after
    assert "toy.track_minor_version" in after
    assert "2024-03-01 (1 of 1), toy: measuring" in seen["printed"]
    assert " measured\n" in seen["printed"]


def test_a_set_that_does_not_install_has_a_sentence(project):
    note = note_of(project, BAD)
    assert note.status == "not installed"
    assert note.sentence == "ERROR: No matching distribution found for six==99.0"
    assert project[1]["others"][1].record == note


def test_a_day_without_a_set_has_a_sentence(project):
    note = note_of(project, EARLY)
    assert note.status == "unresolvable"
    assert note.sentence.startswith("Because only six<=1.9.0 is available")


def test_nothing_is_left_behind(project):
    folder, _ = project
    assert not list((folder / ".asv/history").iterdir())
    assert not list(folder.glob(".asv.history*"))
    assert git(folder, "status", "--porcelain") == ""
    assert git(folder, "branch", "--show-current") == "main\n"


def test_the_published_graph_has_the_day_on_its_axis(project):
    folder, seen = project
    index = json.loads((folder / ".asv/tiny/html/index.json").read_text(encoding="utf-8"))
    commit = note_of(project, GOOD).commit
    # The second of all commits by date: the newest one is that of the branch which is shown.
    assert index["revision_to_hash"] == {"1": commit}, seen["published"]
    moment = index["revision_to_date"]["1"] / 1000
    assert datetime.fromtimestamp(moment, UTC).date() == GOOD
    (graph,) = folder.glob(".asv/tiny/html/graphs/**/branch-HEAD/**/toy.track_minor_version.json")
    assert json.loads(graph.read_text(encoding="utf-8")) == [[1, 16.0]]
