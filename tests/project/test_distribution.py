"""What is installed: the wheel, its data files, its recipes, and systems other than Linux."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
import zipfile

import pytest
import yaml

from tests.helpers import ROOT, git
from tools.release_notes import main as write_notes
from tools.release_notes import section

SETUP = (ROOT / "setup.py").read_text(encoding="utf-8")

PACKAGES = (
    *(
        "adapter_core",
        "array_stores",
        "data_formats",
        "image_storages",
        "query_engines",
        "record_stores",
    ),
    *("training_loaders", "data_generator", "environments", "format_bench"),
)


@pytest.fixture(scope="module")
def wheel(clone_to, tmp_path_factory):
    """Build the wheel of this checkout with the installed setuptools."""
    folder = tmp_path_factory.mktemp("wheel")
    checkout = clone_to(folder / "checkout", {})
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, checkout]
    subprocess.run(command, check=True, capture_output=True)
    (found,) = folder.glob("*.whl")
    return found


@pytest.mark.costly("setup")
def test_the_wheel_has_every_file_of_the_packages(wheel):
    files = git(ROOT, "ls-files", "--cached", "--others", "--exclude-standard", *PACKAGES).splitlines()
    there = set(zipfile.ZipFile(wheel).namelist())
    assert [each for each in files if each not in there and (ROOT / each).exists()] == []
    own = {each.partition("/")[0] for each in there if ".dist-info/" not in each}
    assert own == set(PACKAGES)


@pytest.mark.nightly
def test_the_wheel_installs_into_a_clean_environment_and_measures(wheel, tmp_path):
    venv.create(tmp_path / "clean", symlinks=True)
    python = tmp_path / "clean/bin/python"
    lock = ["--constraint", str(ROOT / "constraints.lock")]
    install = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", python, *lock, wheel]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    if "error sending request" in done.stderr:
        pytest.skip(f"no package index is in reach: {done.stderr}")
    assert done.returncode == 0, done.stderr
    own = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    checks = [[python, "-I", str(ROOT / "tools/check_installation.py"), "--minimal"]]
    command = [tmp_path / "clean/bin/format-bench", "--quiet"]
    run = ["run", "--formats", "CSV,Pickle", "--rows", "1000", "--repeats", "1", "--out", "run"]
    checks += [[*command, *arguments] for arguments in (["list"], run, ["recommend", "run"])]
    for each in checks:
        done = subprocess.run(each, cwd=tmp_path, env=own, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (each, done.stdout, done.stderr)


def test_the_recipe_requires_what_the_wheel_requires():
    recipe = yaml.safe_load(re.sub(r"\$\{\{.*?\}\}", "x", (ROOT / ".ci/recipe.yaml").read_text("utf-8")))
    declared = re.search(r"install_requires=\[(.*?)\]", SETUP, re.DOTALL)[1]
    wanted = {re.sub(r"\s", "", each) for each in re.findall(r'"([^"]+)"', declared)}
    there = {re.sub(r"\s", "", each) for each in recipe["requirements"]["run"]}
    # matplotlib of conda-forge brings Qt; its base is what pip installs.
    found = {each.replace("matplotlib-base", "matplotlib") for each in there} - {"python>=3.11"}
    assert found == wanted
    assert recipe["context"]["version"] == re.search(r'version="([^"]+)"', SETUP)[1]
    assert recipe["build"]["python"]["entry_points"][0].replace(" ", "") in SETUP.replace(" ", "")
    assert 'python_requires=">=3.11"' in SETUP


def test_the_container_is_made_of_what_the_checkout_has():
    text = (ROOT / ".ci/Containerfile").read_text(encoding="utf-8")
    python = re.search(r"FROM docker\.io/library/python:([\d.]+)-", text)[1]
    assert f"--python-version {python}" in (ROOT / "constraints.txt").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"&& make (\w+)", text):
        assert f"\n{target}:" in makefile
    entry = re.search(r'ENTRYPOINT \["([\w-]+)"\]', text)[1]
    assert f"{entry} = format_bench" in SETUP


def test_release_notes_are_a_section_of_the_changelog(tmp_path):
    released = "## [0.2.0] - 2026-12-01\n\n### Added\n\n- One.\n\n## 0.1.0\n\n- Old.\n"
    changelog = f"# Changelog\n\n## [Unreleased]\n\n{released}"
    assert section(changelog, "0.2.0") == "### Added\n\n- One."
    assert section(changelog, "0.1.0") == "- Old."
    assert not section(changelog, "0.3.0")
    with pytest.raises(
        SystemExit, match=r"the tag v9\.0\.0 is not the version of the wheel: there is none"
    ):
        write_notes("v9.0.0", str(tmp_path), str(tmp_path / "notes.md"))
    (tmp_path / "formatbench-9.0.0-py3-none-any.whl").touch()
    with pytest.raises(SystemExit, match=r"CHANGELOG\.md has no section of 9\.0\.0"):
        write_notes("v9.0.0", str(tmp_path), str(tmp_path / "notes.md"))
    assert not (tmp_path / "notes.md").exists()


# What macOS lacks, in each process of a run.
OTHER_SYSTEM = """
import os, pathlib
for name in ("sched_getaffinity", "sched_setaffinity", "posix_fadvise", "memfd_create"):
    if hasattr(os, name):
        delattr(os, name)
for name in ("exists", "open", "read_text", "write_text", "read_bytes", "glob"):
    def without_proc(path, *arguments, plain=getattr(pathlib.Path, name), name=name, **options):
        if str(path).startswith(("/proc", "/sys", "/dev/shm")):
            if name == "exists":
                return False
            if name == "glob":
                return iter(())
            raise FileNotFoundError(2, "No such file or directory", str(path))
        return plain(path, *arguments, **options)
    setattr(pathlib.Path, name, without_proc)
"""


@pytest.mark.costly("format_bench.instruments", "format_bench.runner")
def test_without_proc_and_eviction_warm_times_are_measured_and_the_rest_has_a_reason(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(OTHER_SYSTEM, encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    what = ["--formats", "Pickle", "--rows", "100", "--repeats", "1", "--cold", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "format_bench", "--quiet", "run", *what, "--out", tmp_path / "out"],
        env={**os.environ, "PYTHONPATH": path},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    by_status: dict[str, set[str]] = {}
    for line in done.stdout.splitlines():
        metric, cache, status = (
            re.search(rf'"{name}": "?([\w ]+)', line) for name in ("metric", "cache", "status")
        )
        name = f"{cache[1] if cache else ''} {metric[1]}".strip()
        by_status.setdefault(status[1], set()).add(name)
        assert status[1] == "value" or "Linux alone" in line
    assert set(by_status) == {"value", "unavailable"}
    assert {"save time", "warm read time", "size", "lost columns"} <= by_status["value"]
    assert {"save memory", "cold read time"} <= by_status["unavailable"]


def test_windows_is_told_in_one_line():
    code = "import sys; sys.platform = 'win32'; import format_bench.cli.main"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "run it in WSL or a container" in done.stderr
