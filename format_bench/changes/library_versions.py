"""Which versions each commit was measured with: from its library set, or from what its run recorded."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from format_bench.asv_support.run import FOLDER
from format_bench.library_sets import parse

SET = "constraints.txt"


def library_versions(
    results: Iterable[Any], results_dir: Path, repository: Path
) -> dict[str, dict[str, str]]:
    """Return the versions by canonical name of each commit, by its hash; empty if nobody knows.

    Parameters
    ----------
    results : iterable of asv.results.Results
        The results whose commits are asked for.
    results_dir : Path
        Their folder, with the circumstances of the runs: what was installed, of the libraries that
        adapters declare. They decide where a commit is not in the repository, as in a shallow clone.
    repository : Path
        A git repository.
    """
    commits = dict.fromkeys(result.commit_hash for result in results)
    recorded = _recorded(results_dir)
    sets = _sets(commits, repository)
    return {commit: sets.get(commit) or recorded.get(commit, {}) for commit in commits}


def _sets(commits: Iterable[str], repository: Path) -> dict[str, dict[str, str]]:
    """Return the library set of each commit that has one, asking git once for all."""
    asked = list(commits)
    names = "".join(f"{commit}:{SET}\n" for commit in asked).encode()
    command = ["git", "-C", str(repository), "cat-file", "--batch"]
    try:
        told = subprocess.run(command, input=names, capture_output=True, check=True).stdout  # noqa: S603 (git, by hashes)
    except (OSError, subprocess.CalledProcessError):
        return {}
    found = {}
    for commit in asked:
        head, _, told = told.partition(b"\n")
        if head.endswith(b" missing"):
            continue
        size = int(head.rpartition(b" ")[2])
        text, told = told[:size].decode(), told[size + 1 :]
        found[commit] = parse(text)
    return found


def _recorded(results_dir: Path) -> dict[str, dict[str, str]]:
    from packaging.utils import canonicalize_name

    found: dict[str, dict[str, str]] = {}
    for path in sorted((results_dir / FOLDER).glob("*.jsonl")):
        for facts in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            libraries = facts.get("libraries", {})
            found[facts["asv_commit"]] = {
                canonicalize_name(name): version for name, version in libraries.items() if version
            }
    return found
