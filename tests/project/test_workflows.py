"""Workflows, templates and hooks: everything they refer to exists, and they have few permissions."""

from __future__ import annotations

import re
import shlex
import tomllib

import pytest
import yaml

from format_bench.cli.commands.against import command as against
from tests.helpers import ROOT

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))


def read(path: str) -> dict:
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def steps_of(name: str, job: str) -> list[dict]:
    return read(f".github/workflows/{name}")["jobs"][job]["steps"]


def versions_of(job: str) -> list[str]:
    return read(".github/workflows/test.yml")["jobs"][job]["strategy"]["matrix"]["python-version"]


def test_ci_runs_the_tests_with_the_python_of_the_constraints_and_newer_ones():
    (command,) = [step["run"] for step in steps_of("test.yml", "test") if "run" in step]
    assert (ROOT / command.removeprefix("bash ")).is_file()
    oldest, *newer = versions_of("test")
    assert f"--python-version {oldest}" in (ROOT / "constraints.txt").read_text(encoding="utf-8")
    assert f'python_requires=">={oldest}"' in (ROOT / "setup.py").read_text(encoding="utf-8")
    assert newer == ["3.12", "3.13"]
    assert versions_of("minimal") == [oldest, *newer]
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    assert settings["mypy"]["python_version"] == oldest
    assert settings["ruff"]["target-version"] == "py" + oldest.replace(".", "")


def test_the_classifiers_name_the_tested_versions():
    found = re.findall(r"Python :: (3\.\d+)", (ROOT / "setup.py").read_text(encoding="utf-8"))
    assert found == versions_of("test")


def test_the_wheel_is_built_once_and_tested():
    jobs = read(".github/workflows/test.yml")["jobs"]
    assert [name for name, job in jobs.items() if "pip wheel" in str(job)] == ["wheel"]
    for name in ("minimal", "installed"):
        assert jobs[name]["needs"] == "wheel"
        assert "actions/download-artifact" in str(jobs[name])


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_commands_exist(path):
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].values():
        for command in (line for step in job["steps"] for line in step.get("run", "").splitlines()):
            words = shlex.split(command)
            if words[0] == "make":
                assert words[1] in targets
            # Without hashes, whoever can upload to the index runs code here; a wheel of ours needs none.
            assert "pip install" not in command, command
            for word in words:
                if re.fullmatch(r"tools/\w+\.py|\.ci/\w+", word):
                    assert (ROOT / word).is_file(), command


def test_the_dashboard_is_deployed_from_its_branch_with_the_manual():
    jobs = read(".github/workflows/pages.yml")["jobs"]
    job = jobs["build"]
    site, source = [s["with"] for s in job["steps"] if s.get("uses", "").startswith("actions/checkout@")]
    assert (site["ref"], source["ref"]) == ("gh-pages", "main")
    (upload,) = [
        s for s in job["steps"] if s.get("uses", "").startswith("actions/upload-pages-artifact@")
    ]
    assert upload["with"]["path"] == site["path"]
    manual, atlas = [step for step in job["steps"] if "run" in step]
    assert manual["continue-on-error"] is atlas["continue-on-error"] is True
    assert f"{source['path']}/atlas --out {site['path']}/atlas" in atlas["run"]
    assert f"{source['path']}/docs" in manual["run"]
    assert f"{site['path']}/manual" in manual["run"]
    assert jobs["deploy"]["needs"] == "build"
    assert jobs["deploy"]["steps"][-1]["uses"].startswith("actions/deploy-pages@")


def test_new_bundles_are_verified_before_they_are_merged():
    commands = [step["run"] for step in steps_of("atlas.yml", "verify") if "run" in step]
    assert any("format_bench verify" in each and "HEAD^1" in each for each in commands)
    assert any("format_bench atlas atlas" in each and "--strict" in each for each in commands)


def test_only_a_job_that_runs_no_packages_may_publish():
    jobs = read(".github/workflows/pages.yml")["jobs"]
    assert jobs["deploy"].pop("permissions") == {"pages": "write", "id-token": "write"}
    uses = [step.get("uses", "") for step in jobs["deploy"]["steps"]]
    assert [each.partition("@")[0] for each in uses] == [
        "actions/configure-pages",
        "actions/deploy-pages",
    ]
    assert "permissions" not in jobs["build"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_nothing_may_write_to_the_repository(path):
    found = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert found["permissions"] == {"contents": "read"}
    assert found["concurrency"]["group"]
    # A job's own permissions replace these. A release is written by a job that runs nothing of others.
    writing = {name for name, job in found["jobs"].items() if "contents" in job.get("permissions", {})}
    assert writing <= ({"announce"} if path.name == "release.yml" else set())
    assert all(job["timeout-minutes"] <= 90 for job in found["jobs"].values())
    checkouts = [
        step
        for job in found["jobs"].values()
        for step in job["steps"]
        if step.get("uses", "").startswith("actions/checkout@")
    ]
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_a_release_is_signed_and_published_by_jobs_that_install_nothing():
    jobs = read(".github/workflows/release.yml")["jobs"]
    assert "permissions" not in jobs.pop("build")
    assert [job["needs"] for job in jobs.values()] == ["build", "attest", "publish"]
    assert {name: job["permissions"] for name, job in jobs.items()} == {
        "attest": {"id-token": "write", "attestations": "write"},
        "publish": {"id-token": "write"},
        "announce": {"contents": "write"},
    }
    commands = [
        step["run"].split()[0] for job in jobs.values() for step in job["steps"] if "run" in step
    ]
    assert commands == ["gh"]
    assert jobs["publish"]["environment"]["name"] == "pypi"


def test_the_reusable_workflow_gives_options_that_exist():
    found = read(".github/workflows/against.yml")
    inputs = found[True]["workflow_call"]["inputs"]  # "on" is a truth value in YAML 1.1
    used = set(re.findall(r"inputs\.([\w-]+)", str(found["jobs"])))
    assert used == set(inputs)
    # Text of a caller is never a part of a command: the shell would run what it contains.
    commands = [step.get("run", "") for step in found["jobs"]["against"]["steps"]]
    assert not any("${{" in each for each in commands)
    page = (ROOT / "docs/against.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in page for name in inputs)
    known = {name for each in against.params for name in each.opts}
    assert {"--wheel", "--fail-on-change"} <= known
    assert set(re.findall(r"(--[a-z-]+)", " ".join(commands))) <= {*known, "--editable"}


def test_actions_are_pinned_by_commit_and_only_once():
    pins: dict[str, set[str]] = {}
    for path in WORKFLOWS:
        for line in path.read_text(encoding="utf-8").splitlines():
            if "uses:" in line:
                pinned = re.fullmatch(
                    r"\s*(?:- )?uses: ((?:actions|pypa)/[\w-]+)@([0-9a-f]{40} # v\d+\.\d+\.\d+)", line
                )
                assert pinned, line
                pins.setdefault(pinned[1], set()).add(pinned[2])
    assert [name for name, versions in pins.items() if len(versions) > 1] == []


def test_dependabot_renews_actions_alone():
    (update,) = read(".github/dependabot.yml")["updates"]
    assert update["package-ecosystem"] == "github-actions"


@pytest.mark.parametrize("path", sorted((GITHUB / "ISSUE_TEMPLATE").glob("[!c]*.yml")), ids=str)
def test_issue_forms_are_complete(path):
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert form["name"]
    assert form["description"]
    ids = [each["id"] for each in form["body"]]
    assert len(set(ids)) == len(ids)
    assert {each["type"] for each in form["body"]} <= {"input", "textarea", "dropdown", "checkboxes"}
    assert all(each["attributes"]["label"] for each in form["body"])
    for name in re.findall(r"docs/\w+\.md", path.read_text(encoding="utf-8")):
        assert (ROOT / name).is_file()


def test_hooks_use_the_tools_of_make_lint():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    lint = re.search(r"^lint: environment\n((?:\t.*\n)+)", makefile, re.MULTILINE)[1]
    (repository,) = read(".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    tools = {hook["entry"].split()[0].removeprefix(".venv/bin/") for hook in repository["hooks"]}
    assert tools == set(re.findall(r"\$\(BIN\)/([\w-]+)", lint))


def test_the_citation_is_valid():
    citation = read("CITATION.cff")
    assert {"cff-version", "message", "title", "authors", "type", "license"} <= set(citation)
    assert "version" not in citation  # the number is in setup.py alone
    assert citation["repository-code"] in (ROOT / "setup.py").read_text(encoding="utf-8")
    assert citation["url"] in (ROOT / "asv.conf.json").read_text(encoding="utf-8")
