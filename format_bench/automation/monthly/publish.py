"""Comparing, and sending what was measured: main, the results, and the site that asv makes of them."""

from __future__ import annotations

import subprocess

from adapter_core.errors import MonthlyError
from format_bench.automation.monthly import remote
from format_bench.automation.monthly import results as results_branch
from format_bench.automation.monthly.remote import push_merged
from format_bench.automation.monthly.results import ASV
from format_bench.automation.monthly.state import Status
from format_bench.automation.monthly.tools import PYTHON, commit_of, git, say

SITE = "gh-pages"


def compare(config: str) -> None:
    """Print and write the comparison.

    Raises
    ------
    MonthlyError
        If it failed.
    """
    _run("the comparison", Status.INCOMPLETE, "postprocessing.py", "--config", config)


def publish(scale: str, config: str) -> None:
    """Send main with its tags, the results, and the site.

    Raises
    ------
    MonthlyError
        If something could not be sent; it stays in the clone, and the next run sends it.
    """
    remote.send()
    push_merged([results_branch.BRANCH], lambda: results_branch.absorb(scale))
    push_merged([results_branch.BRANCH, SITE], lambda: _prepare(scale, config))


def _prepare(scale: str, config: str) -> None:
    """Make the site anew of the results of all machines, on top of the site that was fetched."""
    results_branch.absorb(scale)
    shown = ASV / scale / "shown"
    results = commit_of(results_branch.OURS)
    upstream = commit_of(f"refs/remotes/origin/{SITE}")
    ours = commit_of(f"refs/heads/{SITE}")
    if shown.exists() and shown.read_text(encoding="utf-8") == f"{results} {ours}" and upstream == ours:
        return
    if upstream:
        git("update-ref", f"refs/heads/{SITE}", upstream)
    say("making the site")
    _run("the site", Status.UNSENT, "-m", "asv", "gh-pages", "--no-push", "--config", config)
    shown.write_text(f"{results} {commit_of(f'refs/heads/{SITE}')}", encoding="utf-8")


def _run(what: str, status: Status, *command: str) -> None:
    done = subprocess.run([PYTHON, *command], check=False)  # noqa: S603 (our own arguments)
    if done.returncode:
        raise MonthlyError(status, f"{what} failed with status {done.returncode}")
