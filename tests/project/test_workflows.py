"""The workflows of GitHub Actions: what they run is there, and they may do no more than they need."""

from __future__ import annotations

import pytest
import yaml

from tests.helpers import ROOT

FOLDER = ROOT / ".github" / "workflows"


def workflow(name: str) -> dict:
    return yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))


def test_ci_runs_what_the_project_says_with_the_python_of_the_constraints():
    steps = workflow("test.yml")["jobs"]["test"]["steps"]
    (command,) = [step["run"] for step in steps if "run" in step]
    assert (ROOT / command.removeprefix("bash ")).is_file()
    (version,) = [s["with"]["python-version"] for s in steps if "setup-python" in s.get("uses", "")]
    assert f"--python-version {version}" in (ROOT / "constraints.txt").read_text(encoding="utf-8")


def test_the_dashboard_is_deployed_from_its_branch():
    (job,) = workflow("pages.yml")["jobs"].values()
    checkout = next(step for step in job["steps"] if step["uses"].startswith("actions/checkout@"))
    assert checkout["with"]["ref"] == "gh-pages"
    assert job["steps"][-1]["uses"].startswith("actions/deploy-pages@")


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.yml")))
def test_nothing_may_write_to_the_repository(name):
    found = workflow(name)
    assert found["permissions"]["contents"] == "read"
    assert all(job["timeout-minutes"] <= 90 for job in found["jobs"].values())
    assert all(
        "@v" in step["uses"] for job in found["jobs"].values() for step in job["steps"] if "uses" in step
    )
