"""The checkout that a history is made in."""

from __future__ import annotations

from pathlib import Path

from adapter_core.errors import FormatBenchError
from format_bench.backfill.git import Repository
from format_bench.system.git import GitFailed


def checkout(folder: Path) -> Repository:
    """Return the checkout of the project that a folder is in.

    Raises
    ------
    FormatBenchError
        If it is in none, or in one without a commit.
    """
    try:
        root = Path(Repository(folder).git("rev-parse", "--show-toplevel"))
    except GitFailed as error:
        raise FormatBenchError(f"{folder} is in no git checkout; a history is made in one") from error
    if not (root / "asv.conf.json").is_file():
        raise FormatBenchError(f"{root} is no checkout of this project: it has no asv.conf.json")
    repository = Repository(root)
    if not repository.commit_of("HEAD"):
        raise FormatBenchError(f"{root} has no commit yet; a history is made from one")
    return repository
