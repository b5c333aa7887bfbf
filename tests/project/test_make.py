"""Messages of make, cron.sh and .ci/run when a requirement is missing."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import tomllib

import pytest

from tests.conftest import MARKED
from tests.helpers import ROOT

PYTEST = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"][
    "ini_options"
]


def run(folder, *command, **environment):
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "LC_ALL": "C", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def bare(clone_to, tmp_path_factory):
    """Return a clone that tests leave as it is."""
    return clone_to(tmp_path_factory.mktemp("bare") / "clone", {})


def test_an_old_python_is_refused(bare, tmp_path):
    old = tmp_path / "old-python"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    done = run(bare, "make", "bench", f"PYTHON={old}")
    assert done.returncode == 2
    assert "Python 3.11 or newer is needed; name one with: make PYTHON=python3.12" in done.stderr
    assert not (bare / ".venv").exists()


@pytest.mark.costly
def test_a_missing_network_is_reported(clone):
    bare = clone({})
    nowhere = {"PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_RETRIES": "0", "PIP_NO_CACHE_DIR": "1"}
    done = run(bare, "make", "bench", **nowhere)
    assert done.returncode == 2
    assert "the packages could not be installed; is there a network" in done.stderr
    assert not (bare / ".venv/.installed").exists()


def test_a_folder_that_is_not_a_clone_is_refused(clone, tmp_path):
    bare = clone({})
    shutil.rmtree(bare / ".git")
    done = run(bare, "make", "test", GIT_CEILING_DIRECTORIES=str(tmp_path))
    assert done.returncode == 2
    assert "this is not a git clone with a commit; asv measures commits" in done.stderr


def test_a_missing_make_is_reported(bare, tmp_path):
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("bash", "dirname", "env"):
        (tools / tool).symlink_to(run(bare, "which", tool).stdout.strip())
    for script in (".ci/run", "./cron.sh"):
        done = run(bare, str(tools / "bash"), script, PATH=str(tools))
        assert done.returncode == 2
        assert "make is needed" in done.stderr
        assert done.stderr.count("\n") == 1


def test_a_second_cron_run_ends_at_once(bare):
    (bare / ".asv").mkdir(exist_ok=True)
    with (bare / ".asv/cron.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = run(bare, "./cron.sh")
    assert done.returncode == 3
    assert done.stderr == "cron.sh: another run holds .asv/cron.lock\n"


def test_a_missing_site_is_reported_by_preview(bare):
    done = run(bare, "make", "preview", "--assume-old=.venv/.installed", "--old-file=environment")
    assert "there is no site yet; run: make bench SCALE=quick" in done.stderr
    assert done.returncode == 2


@pytest.mark.parametrize(
    ("scale", "runs"),
    [("quick", ["tabular|image"]), ("full", ["tabular", "image"])],
    ids=["quick", "full"],
)
def test_the_first_table_is_of_cells_that_are_measured_once(bare, scale, runs):
    options = f"SCALE={scale}", "SUITES=tabular image"
    done = run(bare, "make", "--dry-run", "bench", *options, "--assume-old=.venv/.installed")
    first, others = re.findall(r'--bench "(.*?)" HEAD', done.stdout)
    choice = re.search(r"(?m)^(runs=.*); \\\nfor suites in", done.stdout)[1]
    assert run(bare, "sh", "-c", f"{choice}; echo $runs").stdout.split() == runs
    others = others.replace("$suites", runs[0])
    for cell, expected in (
        ("tabular.Tabular.time_save('CSV', 'eq')", (True, False)),
        ("tabular.TabularRead.time_read('Parquet', 'eq', 'cold')", (True, False)),
        ("tabular.Tabular.time_save('CSV', 'str')", (False, True)),
        ("image.Image.time_save('PNG', 'cifar-like')", (False, scale == "quick")),
        ("compression.Compression.time_save('ORC', 'eq', 'none')", (False, False)),
    ):
        assert tuple(bool(re.search(each, cell)) for each in (first, others)) == expected
    assert done.stdout.index("postprocessing.py") < done.stdout.index("for suites in")


def commands_of(folder, target):
    """Return the commands that make would run for a target, the environment being there."""
    done = run(folder, "make", "--dry-run", target, "--assume-old=.venv/.installed", "SINCE=a~2")
    return [line for line in done.stdout.splitlines() if " -m pytest " in line]


def test_what_a_change_leaves_out_runs_every_night(bare):
    changed, every = commands_of(bare, "test"), commands_of(bare, "test-all")
    assert len(changed) == len(every) == 2
    for line, whole in zip(changed, every, strict=True):
        assert '--adapters changed --since "a~2" -m "not nightly"' in line
        assert whole == line.replace('--adapters changed --since "a~2" -m "not nightly" ', "")
    assert {line.split()[-4] for line in every} == set(PYTEST["testpaths"])


def test_adapters_are_tested_in_their_environments_every_night(bare):
    names = "ENVIRONMENTS=vss ducklake"
    done = run(bare, "make", "--dry-run", "test-environments", names, "--assume-old=.venv/.installed")
    assert ".venv/bin/python -m tools.check_environments vss ducklake" in done.stdout
    nightly = (ROOT / ".github/workflows/nightly.yml").read_text(encoding="utf-8")
    for text in (nightly, (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")):
        assert "make test-environments" in text
    head = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\n\n")[0]
    assert "# test-environments " in head


def test_markers_name_files_are_registered_and_documented():
    for patterns in MARKED.values():
        for pattern in patterns:
            assert list(ROOT.glob(f"tests/**/{pattern.removeprefix('*/')}")), pattern
    registered = [re.split(r"[:(]", each)[0] for each in PYTEST["markers"]]
    assert {*MARKED, "browser", "costly", "nightly", "slow"} == set(registered)
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert [each for each in registered if f"`{each}`" not in guide] == []
