"""Files are written whole or not at all, and nothing temporary remains."""

from __future__ import annotations

import errno
import json
import os
import subprocess
from pathlib import Path

import pytest

from adapter_core import files
from adapter_core.errors import DamagedStateError
from adapter_core.files import content_of, is_partial, partial_path, plain_path, write_atomically

ROOT = Path(__file__).parents[2]


def test_a_new_file_has_the_content_and_nothing_is_beside_it(tmp_path):
    with write_atomically(tmp_path / "a.txt") as temporary:
        temporary.write_text("new", encoding="utf-8")
        assert not (tmp_path / "a.txt").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "new"


def test_an_old_file_stays_until_the_new_one_is_whole(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old", encoding="utf-8")
    with write_atomically(path) as temporary:
        temporary.write_text("new", encoding="utf-8")
        assert path.read_text(encoding="utf-8") == "old"
    assert path.read_text(encoding="utf-8") == "new"


@pytest.mark.parametrize("kind", ["file", "folder", "nothing"])
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_after_an_error_only_the_old_file_is_there(tmp_path, kind, error):
    path = tmp_path / "a.txt"
    path.write_text("old", encoding="utf-8")

    def fail():
        with write_atomically(path) as temporary:
            if kind == "file":
                temporary.write_text("half", encoding="utf-8")
            elif kind == "folder":
                temporary.mkdir()
                (temporary / "part").touch()
            raise error

    with pytest.raises(error):
        fail()
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.txt"]
    assert path.read_text(encoding="utf-8") == "old"


def test_errors_name_the_file_that_was_wanted(tmp_path):
    path = tmp_path / "gone" / "a.txt"
    with pytest.raises(FileNotFoundError) as caught, write_atomically(path) as temporary:
        temporary.write_text("new", encoding="utf-8")
    assert caught.value.filename == str(path)
    (tmp_path / "folder" / "in the way").mkdir(parents=True)
    with (
        pytest.raises(OSError, match="directory") as caught,
        write_atomically(tmp_path / "folder") as temporary,
    ):
        temporary.write_text("new", encoding="utf-8")
    assert caught.value.errno in (errno.EISDIR, errno.ENOTEMPTY)
    assert str(caught.value).endswith(f"'{tmp_path / 'folder'}'")
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder"]


def test_a_durable_file_and_its_name_are_brought_to_the_disk(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(Path(f"/proc/self/fd/{fd}").readlink()))
    with write_atomically(tmp_path / "a", durable=True) as temporary:
        temporary.touch()
    assert synced == [temporary, tmp_path]


def test_temporary_names_are_unlike_each_other_keep_the_ending_and_are_ignored_by_git(tmp_path):
    path = tmp_path / "a.parquet"
    first, second = partial_path(path), partial_path(path)
    assert first != second
    assert first.suffix == ".parquet"
    assert partial_path(path, ".tar.gz").name.endswith(".partial.tar.gz")
    assert is_partial(first.name)
    assert not is_partial("file.parquet")
    names = [first.name, partial_path(tmp_path / "a").name, partial_path(path, ".tar.gz").name]
    ignored = subprocess.run(
        ["git", "check-ignore", "--no-index", *names],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ignored.stdout.split() == names


def test_what_killed_writers_left_is_removed_by_the_next_durable_write(tmp_path):
    left, young = (partial_path(tmp_path / name) for name in ("old.json", "new.json"))
    for path in (left, young, tmp_path / ".mine.partial"):
        path.touch()
    os.utime(left, (0, 0))
    os.utime(tmp_path / ".mine.partial", (0, 0))
    with write_atomically(tmp_path / "a.txt", durable=True) as temporary:
        temporary.touch()
    assert {each.name for each in tmp_path.iterdir()} == {young.name, ".mine.partial", "a.txt"}


@pytest.mark.parametrize("text", ["", "[", "[]", "{}", '{"a": "b"}', '{"a": 1e999}', "[" * 100_000])
def test_damaged_content_is_one_error_that_names_the_file(text):
    with (
        pytest.raises(DamagedStateError, match=r"^state\.json is damaged; remove it$"),
        content_of("state.json", DamagedStateError, "is damaged; remove it"),
    ):
        int(json.loads(text)["a"])


def test_errors_that_content_does_not_cause_stay_as_they_are():
    with pytest.raises(OSError, match="full"), content_of("a", DamagedStateError, "is damaged"):
        raise OSError("full")


@pytest.mark.parametrize("name", ["what?", "a#b", "it's", "[1]", "*"])
def test_databases_get_plain_paths_and_no_folder_is_made_for_these(name, tmp_path, monkeypatch):
    with plain_path(tmp_path / name) as link:
        assert name not in str(link)
        link.write_bytes(b"x")
    assert (tmp_path / name).read_bytes() == b"x"
    assert not link.is_symlink()
    monkeypatch.setattr(files, "TemporaryDirectory", None)
    (tmp_path / "größe").mkdir()
    monkeypatch.chdir(tmp_path / "größe")
    with plain_path(Path("a b.duckdb")) as path:
        assert path == Path.cwd() / "a b.duckdb"
