from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from format_bench.metadata import libraries

ROOT = Path(__file__).resolve().parent.parent

LONGEST = (
    "test_suites.py",
    "test_table_values.py",
    "test_history_measured.py",
    "test_changes.py",
    "test_cron_faults.py",
    "test_verdicts.py",
)
"""Files whose tests wait for one thing, longest first: begun last, they would leave a CPU idle."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Begin with the longest files, whatever the order of the others."""
    place = {name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path.name, len(LONGEST)))


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the folder of the checkout."""
    return ROOT


@pytest.fixture
def clone(tmp_path):
    """Return a function that clones the checkout, with its uncommitted changes, and adds files."""

    def make(files: dict[str, str]) -> Path:
        return clone_with(tmp_path / "clone", files)

    return make


@pytest.fixture
def libraries_unasked(monkeypatch):
    """Spare the process that imports all libraries, where a test is about something else."""
    monkeypatch.setattr(libraries, "asked_in_a_child", lambda _: {})


def clone_with(target: Path, files: dict[str, str]) -> Path:
    """Clone the checkout as it is now to a folder, write files there, and commit them."""
    names = git(ROOT, "ls-files", "--cached", "--others", "--exclude-standard").splitlines()
    found = {name: (ROOT / name).read_bytes() for name in names if (ROOT / name).is_file()}
    found |= {name: text.encode() for name, text in files.items()}
    for name, content in found.items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o755 if content.startswith(b"#!") else 0o644)
    git(target, "init", "--quiet", "--initial-branch", "main")
    git(target, "add", "--all")
    git(target, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "All")
    return target


def page_of(module: str) -> str:
    """Return the page that a module prints as a command, in a process that no other test has changed."""
    command = [sys.executable, "-m", module]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def own_home(folder: Path) -> dict[str, str]:
    """Return the variables of a home in a folder, which has no packages cached: those are shared."""
    cache = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))
    return {"HOME": str(folder), "XDG_CACHE_HOME": cache}


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder and return what it prints."""
    done = subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout
