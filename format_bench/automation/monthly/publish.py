"""Publication of a month: its comparison, then main, results and site, pushed to the remote."""

from __future__ import annotations

import logging
import subprocess

from adapter_core.errors import MonthlyError
from format_bench.automation.monthly import remote, results
from format_bench.automation.monthly.clone import ASV, PYTHON, REPOSITORY
from format_bench.automation.monthly.state import ExitStatus

LOG = logging.getLogger(__name__)

SITE = "gh-pages"


def compare(config: str) -> None:
    """Print and write the comparison.

    Raises
    ------
    MonthlyError
        If it failed.
    """
    _run("the comparison", ExitStatus.INCOMPLETE, "postprocessing.py", "--config", config)


def publish(scale: str, config: str) -> None:
    """Send main with its tags, the results, and the site.

    Raises
    ------
    MonthlyError
        If something could not be sent; it stays in the clone, and the next run sends it.
    """
    remote.push_main()
    remote.push_merged([results.BRANCH], lambda: results.absorb(scale))
    remote.push_merged([results.BRANCH, SITE], lambda: _prepare(scale, config))


def _prepare(scale: str, config: str) -> None:
    """Build the site from the results of all machines, on top of the site that was fetched."""
    results.absorb(scale)
    published = ASV / scale / "shown"
    result_commit = REPOSITORY.commit_of(results.OURS)
    upstream = REPOSITORY.commit_of(f"refs/remotes/origin/{SITE}")
    site_commit = REPOSITORY.commit_of(f"refs/heads/{SITE}")
    built_of = published.read_text(encoding="utf-8") if published.exists() else ""
    if built_of == f"{result_commit} {site_commit}" and upstream == site_commit:
        return
    # asv commits on top of the local branch, which a fetch does not move.
    if upstream:
        REPOSITORY.git("update-ref", f"refs/heads/{SITE}", upstream)
    LOG.info("making the site")
    _run("the site", ExitStatus.UNSENT, "-m", "asv", "gh-pages", "--no-push", "--config", config)
    built = f"{result_commit} {REPOSITORY.commit_of(f'refs/heads/{SITE}')}"
    published.write_text(built, encoding="utf-8")


def _run(step: str, status: ExitStatus, *command: str) -> None:
    done = subprocess.run([PYTHON, *command], check=False)  # noqa: S603 (our own arguments)
    if done.returncode:
        raise MonthlyError(status, f"{step} failed with status {done.returncode}")
