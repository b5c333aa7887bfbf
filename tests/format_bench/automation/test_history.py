"""Library sets of the past: resolved, committed to a branch of their own, measured and published."""

from __future__ import annotations

import os
from contextlib import chdir
from datetime import date

import pytest
from click.testing import CliRunner

from adapter_core.errors import InvalidBranchError
from format_bench.automation.history import history, past_sets
from format_bench.automation.history.branch import Branch, checkout
from format_bench.automation.history.past_sets import PastSet, first_days, resolve_past
from format_bench.cli.commands.history import command
from format_bench.library_sets import ResolutionError, outcomes, resolve
from format_bench.library_sets.outcomes import SetOutcome, SetRecord
from tests.factories.fake_project import toy_checkout
from tests.helpers import git

JANUARY, MARCH, JUNE = date(2024, 1, 1), date(2024, 3, 1), date(2024, 6, 1)
OLD = PastSet(JANUARY, reason="Because only six<=1.9 is available")
SETS = {
    JANUARY: OLD,
    MARCH: PastSet(MARCH, "six==1.16.0\n", {"tomli-w>=2": "Because there is none"}),
    JUNE: PastSet(JUNE, "six==1.17.0\n"),
}
DECLARED = {"": ["six>=1.10"], "all": ["few", "many"], "a": ["many"], "b": ["many"], "c": ["few"]}


@pytest.fixture(scope="session")
def index():
    """Skip the test if no package index is in reach."""
    try:
        resolve(["six"], "3.11")
    except ResolutionError as error:
        pytest.skip(f"no package index is in reach: {error}")


@pytest.fixture
def toy(tmp_path):
    return toy_checkout(tmp_path / "toy")


@pytest.fixture
def branch(toy):
    return Branch(checkout(toy), "history")


@pytest.fixture
def _known_sets(monkeypatch):
    """Have sets at hand instead of resolving them."""
    monkeypatch.setattr(history, "declared", lambda _: {})
    monkeypatch.setattr(history, "resolve_past", lambda day, *_: SETS[day])


def dated(folder, ref):
    """Return hash, both dates and number of parents of each commit, oldest first."""
    lines = git(folder, "log", "--reverse", "--format=%H|%aI|%cI|%P", ref).splitlines()
    return [(commit, a, c, len(p.split())) for commit, a, c, p in (line.split("|") for line in lines)]


def test_days_are_the_first_of_months():
    assert first_days(date(2024, 11, 1), date(2025, 5, 31), "quarter") == [
        date(2024, 11, 1),
        date(2025, 2, 1),
        date(2025, 5, 1),
    ]
    assert len(first_days(date(2024, 1, 1), date(2025, 12, 1), "month")) == 24
    assert first_days(date(2024, 3, 1), date(2026, 2, 28), "year") == [
        date(2024, 3, 1),
        date(2025, 3, 1),
    ]
    assert first_days(date(2024, 3, 1), date(2024, 2, 1), "year") == []


def test_a_set_is_read_as_it_was_written():
    for past in SETS.values():
        assert PastSet.from_texts(past.description(), past.constraints()) == past


def test_a_requirement_that_no_version_meets_is_left_out_with_its_reason(monkeypatch):
    def resolved(requirements, *_, **__):
        if "gone" in requirements:
            raise ResolutionError("there is no version of gone")
        if {"many", "few"} <= set(requirements):
            raise ResolutionError("few and many exclude each other")
        return "".join(f"{each.partition('>')[0]}==1.0\n" for each in sorted(requirements))

    monkeypatch.setattr(past_sets, "resolve", resolved)
    declared = {**DECLARED, "all": ["few", "gone", "many"], "d": ["gone"]}
    past = resolve_past(MARCH, declared, "3.11")
    assert past.versions == {"many": "1.0", "six": "1.0"}
    assert past.left_out == {
        "gone": "there is no version of gone",
        "few": "few and many exclude each other",
    }


@pytest.mark.usefixtures("index")
def test_a_set_is_resolved_as_of_its_day():
    declared = {"": ["six>=1.10"], "all": ["cachetools", "tomli-w>=2"]}
    past = resolve_past(date(2016, 1, 1), declared, "3.11")
    assert past.versions == {"cachetools": "1.1.5", "six": "1.10.0"}
    assert past.left_out.keys() == {"tomli-w>=2"}
    assert "there are no versions of tomli-w" in past.left_out["tomli-w>=2"]
    assert "Because only six<=1.9" in resolve_past(date(2015, 6, 1), declared, "3.11").reason


@pytest.mark.usefixtures("_known_sets")
def test_each_day_has_a_commit_of_its_date(toy, branch):
    entries = history.make(branch, [JANUARY, MARCH, JUNE], dry_run=False)
    found = dated(toy, "history")
    assert [entry.commit for entry in entries] == [commit for commit, *_ in found]
    assert [facts[1:] for facts in found] == [
        (f"{day}T12:00:00+00:00", f"{day}T12:00:00+00:00", parents)
        for day, parents in ((JANUARY, 0), (MARCH, 1), (JUNE, 1))
    ]
    for entry in entries:
        changed = git(toy, "diff", "--name-only", "main", entry.commit).split()
        assert changed == ["constraints.txt", "library_set.json"]
        assert git(toy, "show", f"{entry.commit}:constraints.txt") == entry.past.constraints()
    message = git(toy, "log", "-1", "--format=%B", "history")
    assert message.startswith("Take the library set of 2024-06-01\n\nAll else is as in ")
    assert "six 1.16.0 -> 1.17.0\n" in message
    assert "tomli-w>=2: Because there is none" in git(toy, "log", "--format=%B", "history~1")


@pytest.mark.usefixtures("_known_sets")
def test_uncommitted_changes_are_logged(toy, branch, caplog):
    caplog.set_level("INFO", "format_bench")
    history.make(branch, [MARCH], dry_run=False)
    assert "uncommitted" not in caplog.text
    (toy / "toy.py").write_text("changed = 1\n", encoding="utf-8")
    history.make(branch, [MARCH], dry_run=False)
    assert "uncommitted" not in caplog.text
    history.make(branch, [MARCH, JUNE], dry_run=False)
    assert "uncommitted changes are not part of the commits" in caplog.text


@pytest.mark.usefixtures("_known_sets")
def test_work_tree_index_and_branch_are_left_alone(toy, branch):
    (toy / "toy.py").write_text("staged = 1\n", encoding="utf-8")
    git(toy, "add", "toy.py")
    (toy / "toy.py").write_text("changed = 1\n", encoding="utf-8")
    (toy / "new.py").write_text("", encoding="utf-8")

    def state():
        return [
            git(toy, *each)
            for each in (
                ["status", "--porcelain"],
                ["diff"],
                ["diff", "--cached"],
                ["rev-parse", "main"],
            )
        ] + [(toy / ".git/HEAD").read_text()]

    before = state()
    history.make(branch, [MARCH, JUNE], dry_run=False)
    assert state() == before
    assert git(toy, "show", "history:toy.py") == ""


@pytest.mark.usefixtures("_known_sets")
def test_commits_that_are_there_are_kept_and_later_days_added(toy, branch, monkeypatch):
    first = history.make(branch, [JANUARY, MARCH], dry_run=False)
    git(toy, "commit", "--allow-empty", "-m", "The project goes on")
    asked = []
    monkeypatch.setattr(history, "resolve_past", lambda day, *_: asked.append(day) or SETS[day])
    again = history.make(branch, [JANUARY, MARCH, JUNE], dry_run=False)
    assert asked == [JUNE]
    assert again[:2] == first
    assert [commit for commit, *_ in dated(toy, "history")] == [entry.commit for entry in again]


@pytest.mark.usefixtures("_known_sets")
def test_a_fetched_branch_goes_on(toy, branch):
    first = history.make(branch, [MARCH], dry_run=False)[0]
    git(toy, "update-ref", "refs/remotes/origin/history", "history")
    git(toy, "branch", "-D", "history")
    history.make(branch, [MARCH, JUNE], dry_run=False)
    assert git(toy, "rev-parse", "history~1").strip() == first.commit


@pytest.mark.usefixtures("_known_sets")
def test_a_dry_run_makes_nothing(toy, branch):
    before = git(toy, "for-each-ref"), git(toy, "count-objects")
    entries = history.make(branch, [MARCH], dry_run=True)
    assert entries == [history.DayEntry(SETS[MARCH])]
    assert (git(toy, "for-each-ref"), git(toy, "count-objects")) == before


@pytest.mark.usefixtures("_known_sets")
def test_days_that_a_branch_cannot_take_are_refused_before_anything_is_made(toy, branch):
    def refusal(name, *wanted):
        with pytest.raises(InvalidBranchError) as error:
            history.make(Branch(branch.repository, name), list(wanted), dry_run=False)
        return str(error.value)

    history.make(branch, [MARCH], dry_run=False)
    before = git(toy, "for-each-ref")
    assert "goes up to 2024-03-01 already, so 2024-01-01 cannot" in refusal("history", JANUARY, JUNE)
    assert "main is checked out" in refusal("main", JUNE)
    assert "git does not take" in refusal("a..b", JUNE)
    git(toy, "branch", "other")
    assert "the branch other has other commits" in refusal("other", date(2999, 1, 1))
    git(toy, "branch", "-D", "other")
    assert git(toy, "for-each-ref") == before


def test_a_folder_outside_of_a_checkout_is_refused(tmp_path, toy, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    with pytest.raises(Exception, match="is not in a git checkout"):
        checkout(tmp_path)
    (toy / "asv.conf.json").unlink()
    with pytest.raises(Exception, match="not a checkout of this project"):
        checkout(toy)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--from", "March"], "'March' is not a month; write e.g. 2024-03, or now"),
        (["--from", "2999-01"], "2999-01 lies in the future"),
        (["--from", "2024-03", "--to", "2024-01"], "--from 2024-03 is after --to 2024-01"),
        (["--from", "2024-03", "--suite", "tabula"], "no suite 'tabula'; known: second, toy"),
    ],
)
def test_wrong_options_are_refused(toy, options, message):
    with chdir(toy):
        done = CliRunner().invoke(command, options)
    assert done.exit_code == 2
    assert message in done.output


def test_the_last_record_of_a_set_counts_and_a_torn_one_is_ignored(tmp_path):
    first = SetRecord("c1", "2024-06-01", "m", SetOutcome.NOT_INSTALLED, "no wheel", {"a": "b"}, [], 1.0)
    second = SetRecord("c1", "2024-06-01", "m", SetOutcome.MEASURED, "", {}, ["toy"], 2.0)
    other = SetRecord("c2", "2024-03-01", "m", SetOutcome.UNRESOLVABLE, "too old", {}, [], 3.0)
    for record in (first, second, other):
        outcomes.write(tmp_path, record)
    with (tmp_path / "sets/m.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"commit": "c1", "da')
    assert outcomes.read(tmp_path) == [other, second]
    assert outcomes.newest(tmp_path, "m", "c1") == second
    assert outcomes.newest(tmp_path, "elsewhere", "c1") is None
    third = SetRecord("c3", "2024-09-01", "m", SetOutcome.FAILED, "no suite", {}, [], 4.0)
    outcomes.write(tmp_path, third)
    assert outcomes.read(tmp_path) == [other, second, third]


def test_the_reason_of_a_failure_is_the_last_error():
    output = (
        "·· Installing\n·· Error running pip\n   STDERR\n   ERROR: No matching distribution\n\n   end\n"
    )
    assert history.failure_reason(output) == "ERROR: No matching distribution"
    assert history.failure_reason("·· Discovering\n· Interrupted.\n") == "Interrupted."
    assert history.failure_reason("") == ""


def test_two_runs_exclude_each_other(tmp_path):
    with (
        history.measuring_lock(tmp_path),
        pytest.raises(Exception, match=rf"another run holds .*cron.lock: process {os.getpid()}, since"),
        history.measuring_lock(tmp_path),
    ):
        pass
    # The clone in which cron.sh measures is inside of the checkout whose lock it takes.
    clone = tmp_path / ".asv/monthly"
    clone.mkdir()
    with (
        history.measuring_lock(clone),
        pytest.raises(Exception, match="another run holds"),
        history.measuring_lock(tmp_path),
    ):
        pass
