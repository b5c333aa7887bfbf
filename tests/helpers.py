"""The checkout, git, adapters and pages in a browser, for tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import BAD_REQUEST
from pathlib import Path
from typing import Any

import pytest

import query_engines
from format_bench.conformance import selection

ROOT = Path(__file__).resolve().parent.parent


def chosen(package: Any, test_module: str) -> list[str]:
    """Return the labels of a package's adapters that a file of tests tests; see `--adapters`."""
    return selection.tier.labels(package.registry, test_module)


def pair_of(label: str) -> Any:
    """Return the pair of an engine and a format; skip the test if it is not available."""
    pair = query_engines.find(label)
    if not (found := pair.availability()):
        pytest.skip(found.reason)
    return pair


def cloned_checkout(target: Path) -> Path:
    """Copy the checkout, uncommitted changes included, to a folder, and commit all."""
    for name in git(ROOT, "ls-files", "--cached", "--others", "--exclude-standard").splitlines():
        source, path = ROOT / name, target / name
        if source.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            # With its time, which compiled modules name: a clone compiles what it changes alone.
            shutil.copy2(source, path)
    for name in {each.parent.relative_to(target) for each in target.rglob("*.py")}:
        if (compiled := ROOT / name / "__pycache__").is_dir():
            of_pytest = shutil.ignore_patterns("*-pytest-*")
            shutil.copytree(compiled, target / name / "__pycache__", ignore=of_pytest)
    git(target, "init", "--quiet", "--initial-branch", "main")
    return _commit_all(target)


def copy_with(clone: Path, target: Path, files: dict[str, str]) -> Path:
    """Copy a clone to a folder, and add files to its only commit."""
    shutil.copytree(clone, target, symlinks=True, copy_function=_copy)
    for name, text in files.items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755 if text.startswith("#!") else 0o644)
    return _commit_all(target, "--amend") if files else target


def _copy(source: str, target: str) -> None:
    # What git and Python never change in place can be the same file.
    is_shared = "/.git/objects/" in source or "/__pycache__/" in source
    (os.link if is_shared else shutil.copy2)(source, target)


def _commit_all(folder: Path, *options: str) -> Path:
    git(folder, "add", "--all")
    git(folder, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "All", *options)
    return folder


def own_home(folder: Path) -> dict[str, str]:
    """Return environment variables for a home in a folder; the cache of packages is shared."""
    cache = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))
    return {"HOME": str(folder), "XDG_CACHE_HOME": cache}


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder and return its output."""
    done = subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


def output_of(code: str, **environment: str) -> str:
    """Run Python code in the checkout in a process of its own; return its output.

    Its environment variables are these alone. It must neither fail nor warn.
    """
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    assert not done.stderr
    return done.stdout


@contextmanager
def watched_pages(browser: Any, allows: Callable[[str, str], bool]) -> Iterator[Callable[..., Any]]:
    """Return a function that opens an address; errors, messages and foreign requests fail the test.

    Parameters
    ----------
    browser : playwright.sync_api.Browser
        A real browser.
    allows : callable
        Tells from the address of a request and that of its page whether the page may make it.
    """
    contexts, trouble = [], []

    def open_page(address: str, width: int = 1400) -> Any:
        context = browser.new_context(viewport={"width": width, "height": 900})
        contexts.append(context)
        # Pages with many labels take more than the default, 30 s, on a machine with other work.
        context.set_default_timeout(120_000)
        page = context.new_page()
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("request", lambda r: None if allows(r.url, address) else trouble.append(r.url))
        page.on("response", lambda r: trouble.append(r.url) if r.status >= BAD_REQUEST else None)
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert trouble == []
