"""A benchmark server goes on with the state, the results and the code of an earlier version."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest

from format_bench.automation.monthly.state import MonthState
from tests.factories.cron_sandbox import World
from tests.helpers import ROOT, git

FEBRUARY = {"alpha": (2, 2), "beta": (2, 2)}
MARCH = {"alpha": (3, 2), "beta": (3, 2)}

STATE = """\
{
 "name": "2026-02",
 "commit": "COMMIT",
 "append": false,
 "changes": "Renew the library set: pyarrow==1.0 -> pyarrow==2.0",
 "problem": "",
 "begun": {
  "alpha": 1769947200.25,
  "beta": 1769947201.5
 },
 "ended": {
  "alpha": "done"
 }
}"""
"""The state file of a month that was killed in its second suite, as written since the first version."""


@pytest.fixture
def world(tmp_path):
    made = World(tmp_path).make()
    made.next_set("2.0")
    return made


def test_a_state_file_of_the_first_version_is_read_and_written_with_the_fields_since(tmp_path):
    path = tmp_path / "month.json"
    path.write_text(STATE, encoding="utf-8")
    month = MonthState.read(path)
    assert (month.name, month.append, month.failed) == ("2026-02", False, [])
    assert month.begun == {"alpha": 1769947200.25, "beta": 1769947201.5}
    month.write(path)
    since = {"measured": {}, "left_out": {}, "spent": {}}
    assert json.loads(path.read_text(encoding="utf-8")) == json.loads(STATE) | since
    assert MonthState.read(path) == month


def test_an_old_state_file_and_an_old_results_branch_go_on(world):
    world.kill_at("2026-02-01", "run beta")
    commit = git(world.clone, "rev-parse", "2026-02^{commit}").strip()
    state = world.clone / ".asv/tiny/month.json"
    state.write_text(STATE.replace("COMMIT", commit), encoding="utf-8")
    # The branch, made by git alone: a tree of .asv/SCALE/results, and one commit for each suite.
    (path,) = world.clone.glob(".asv/tiny/results/*/*-env.json")
    facts = json.loads(path.read_text(encoding="utf-8"))
    del facts["results"]["alpha.time_it"][-1]
    facts["results"]["alpha.time_it"].append([[2.0, 2.0], [2.0, 2.0]])
    path.write_text(json.dumps(facts), encoding="utf-8")
    script = """
    export GIT_DIR=$PWD/.git GIT_WORK_TREE=$PWD/.asv GIT_INDEX_FILE=$PWD/.asv/old_index
    git -C .asv add --force tiny/results
    commit="git -c user.name=a -c user.email=a@b commit-tree"
    git update-ref refs/heads/results "$($commit "$(git write-tree)" -m 'Results of 2026-02: alpha')"
    rm -r .asv/old_index .asv/tiny/results
    """
    subprocess.run(["bash", "-euc", script], cwd=world.clone, check=True)
    old = git(world.clone, "rev-parse", "results").strip()
    done = world.run("2026-02-02")
    assert done.returncode == 0, done.stdout
    assert "measuring 2026-02: beta\n" in done.stdout
    assert world.results() == {"2026-02": FEBRUARY}
    assert world.log("results", "--first-parent") == [
        "Results of 2026-02: beta",
        "Results of 2026-02: alpha",
    ]
    assert world.commit_of("results~1") == old
    assert world.sent()


def test_a_month_begun_by_code_that_has_moved_goes_on(world):
    other = world.folder / "other"
    new, old = other / "format_bench/automation/monthly", other / "format_bench/monthly"
    # In earlier versions the package had the address that the module has now.
    kept = world.folder / "kept"
    shutil.copytree(new, kept / "monthly")
    shutil.copy(other / "format_bench/monthly.py", kept)
    (other / "format_bench/monthly.py").unlink()
    new.rename(old)
    shutil.copy(kept / "monthly.py", old / "command.py")
    for path in old.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("format_bench.automation.monthly", "format_bench.monthly"))
    (old / "__main__.py").write_text("from format_bench.monthly.command import main\n\nmain()\n")
    world.push_from_elsewhere("Have the code as it was")
    world.kill_at("2026-02-01", "run beta")

    git(other, "pull", "--quiet", "--rebase", "origin", "main")
    shutil.rmtree(old)
    shutil.copytree(kept / "monthly", new)
    shutil.copy(kept / "monthly.py", other / "format_bench")
    world.push_from_elsewhere("Move the code")
    world.next_set("3.0")
    done = world.run("2026-03-01")
    assert done.returncode == 0, done.stdout
    assert world.results() == {"2026-02": FEBRUARY, "2026-03": MARCH}
    assert world.sent()


def test_the_address_of_the_steps_is_that_of_older_scripts():
    assert 'run .venv/bin/python -m format_bench.monthly "$1"' in (ROOT / "cron.sh").read_text()
    command = [sys.executable, "-m", "format_bench.monthly", "--help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Usage: python -m format_bench.monthly ")
    assert all(f"\n  {step} " in done.stdout for step in ("begin", "resume", "finish"))
