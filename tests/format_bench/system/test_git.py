"""Git repositories through the user's git."""

from __future__ import annotations

import ast
from datetime import UTC, datetime

import pytest

from adapter_core.errors import GitError
from format_bench.system.git import Repository
from tests.helpers import ROOT, git

MOMENT = datetime(2024, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def repository(tmp_path, monkeypatch):
    for who in ("AUTHOR", "COMMITTER"):
        for what in ("NAME", "EMAIL"):
            monkeypatch.setenv(f"GIT_{who}_{what}", "a@b")
    git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    (tmp_path / "a.txt").write_text("first\n\nlast", encoding="utf-8")
    git(tmp_path, "add", "a.txt")
    git(tmp_path, "commit", "--quiet", "-m", "One")
    return Repository(tmp_path)


def test_a_failure_has_the_command_the_status_and_the_reason(repository):
    with pytest.raises(GitError, match=r"^git show failed: fatal: .*'gone'") as caught:
        repository.git("show", "gone")
    assert caught.value.returncode == 128


def test_a_command_that_takes_too_long_fails(repository):
    slow = Repository(repository.root, timeout_seconds=0.2)
    with pytest.raises(GitError, match=r"fatal: not finished after 0\.2 seconds"):
        slow.git("-c", "alias.wait=!exec sleep 5", "wait")


def test_contents_of_many_objects_are_read_at_once(repository):
    names = ["HEAD:a.txt", "HEAD:gone.txt", "gone:a.txt", "HEAD^{tree}:a.txt"]
    content = b"first\n\nlast"
    assert repository.contents(names) == {"HEAD:a.txt": content, "HEAD^{tree}:a.txt": content}
    assert repository.contents([]) == {}


def test_a_commit_is_made_without_a_work_tree(repository):
    tree = repository.tree_with("HEAD", {"a.txt": "other", "b/c.txt": "new"})
    commit = repository.commit_tree(tree, [repository.commit_of("HEAD")], "Two\n", MOMENT)
    assert repository.git("show", "-s", "--format=%s %at %ct %P", commit) == (
        f"Two {int(MOMENT.timestamp())} {int(MOMENT.timestamp())} {repository.commit_of('HEAD')}"
    )
    assert repository.git("show", f"{commit}:b/c.txt") == "new"
    assert not repository.has_changes()
    assert repository.is_ancestor("HEAD", commit)
    assert not repository.is_ancestor(commit, "HEAD")
    (repository.root / "a.txt").write_text("changed", encoding="utf-8")
    assert repository.has_changes()


def test_a_name_without_a_commit_gives_nothing(repository):
    assert repository.commit_of("gone") == ""
    assert len(repository.commit_of("main")) == 40


def test_no_other_module_runs_git():
    found = [
        path.relative_to(ROOT).as_posix()
        for package in ("adapter_core", "data_generator", "format_bench")
        for path in sorted((ROOT / package).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.List) and node.elts
        if isinstance(node.elts[0], ast.Constant) and node.elts[0].value == "git"
    ]
    assert found == ["format_bench/system/git.py"]
