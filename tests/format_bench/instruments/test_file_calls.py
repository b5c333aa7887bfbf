"""Calls that change files: all are recorded in order, with their bytes; any can fail or be the last."""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import platform
import shutil

import pytest

from adapter_core.errors import UnavailableError
from format_bench.instruments import stopped_calls
from format_bench.instruments.file_calls import KILL, PASS, Kind, Watcher
from format_bench.instruments.forked import call_in_child
from format_bench.studies.surviving.disk import Disk, tree_of, write_tree

BEFORE = {"old": b"x" * 5000}


def change(folder):
    """Change files in every way that is recorded."""
    with (folder / "a").open("wb") as file:
        file.write(b"1" * 10_000)
        file.flush()
        os.fsync(file.fileno())
        file.seek(5)
        file.write(b"22")
    (folder / "d").mkdir()
    (folder / "a").rename(folder / "d" / "b")
    (folder / "d").rename(folder / "e")
    shutil.copyfile(folder / "e" / "b", folder / "c")
    os.link(folder / "c", folder / "c2")
    (folder / "c").unlink()
    with (folder / "old").open("ab") as file:
        file.write(b"yy")
    with (folder / "m").open("w+b") as file:
        file.truncate(9000)
        with mmap.mmap(file.fileno(), 9000) as mapped:
            mapped[4:7] = b"abc"
            mapped.flush()
            mapped[8000:8002] = b"zz"
    descriptor = os.open(folder / "v", os.O_WRONLY | os.O_CREAT | os.O_DSYNC)
    os.writev(descriptor, [b"one", b"two"])
    os.pwritev(descriptor, [b"TW", b"O"], 3)
    os.close(descriptor)
    descriptor = os.open(folder, os.O_RDONLY)
    os.mkdir("gone", dir_fd=descriptor)
    os.rmdir("gone", dir_fd=descriptor)
    os.close(descriptor)
    libc = ctypes.CDLL(None)
    libc.fopen.restype = ctypes.c_void_p
    stream = ctypes.c_void_p(libc.fopen(os.fsencode(folder / "stdio"), b"w"))
    libc.fputs(b"by the C library\n", stream)
    libc.fclose(stream)


def watched(folder, decide=lambda _number, _call: PASS, change=change):
    write_tree(BEFORE, folder)
    watcher = Watcher(folder, decide)
    with watcher.following() as begin:

        def act(_):
            begin()
            change(folder)

        ended = call_in_child(act, 10)
    return watcher, ended


def replayed(watcher):
    disk = Disk(BEFORE)
    for each in watcher.calls:
        disk.apply(each)
    return disk


def test_the_recorded_calls_explain_the_files(tmp_path):
    watcher, ended = watched(tmp_path / "files")
    assert (ended.error, ended.death, watcher.problem) == ("", "", "")
    assert replayed(watcher).now() == tree_of(tmp_path / "files")
    assert tree_of(tmp_path / "files")["stdio"] == b"by the C library\n"
    assert [str(each) for each in watcher.calls][:4] == [
        "open a",
        "write a, 10,000 bytes at 0",
        "sync a",
        "write a, 2 bytes at 5",
    ]
    assert {each.kind for each in watcher.calls} == {*Kind}
    assert [each.path for each in watcher.calls if each.is_synced] == ["v", "v"]


def test_a_writer_killed_at_any_call_leaves_what_the_replay_says(tmp_path):
    total = len(watched(tmp_path / "files")[0].calls)
    left = []
    for moment in range(total):
        watcher, ended = watched(
            tmp_path / "files", lambda number, _, at=moment: KILL if number >= at else PASS
        )
        left.append(tree_of(tmp_path / "files"))
        assert replayed(watcher).now() == left[-1], moment
        # The last numbers are stores to mapped files, at which no process is stopped.
        assert ended.death == ("SIGKILL" if len(watcher.calls) < total else "")
    assert left[0] == BEFORE
    assert len({str(each) for each in left}) > total // 2


def test_calls_that_need_space_fail_on_a_full_disk(tmp_path):
    def full(_, call):
        return errno.ENOSPC if call.needs_space else PASS

    _, ended = watched(tmp_path / "files", full)
    assert ended.error.startswith("OSError: [Errno 28] No space left on device")
    assert tree_of(tmp_path / "files") == BEFORE

    def over(folder):
        with (folder / "old").open("r+b") as file:
            file.write(b"z")

    _, ended = watched(tmp_path / "files", full, over)
    assert (ended.error, tree_of(tmp_path / "files")["old"][:2]) == ("", b"zx")


def test_other_folders_are_not_recorded(tmp_path):
    def elsewhere(folder):
        (folder.parent / "other").write_bytes(b"1")
        (folder.parent / "files2").write_bytes(b"1")

    watcher, ended = watched(tmp_path / "files", change=elsewhere)
    assert (watcher.calls, ended.error) == ([], "")


def test_a_process_that_is_never_watched_is_no_success(tmp_path):
    watcher = Watcher(tmp_path)
    with watcher.following():
        pass
    assert watcher.problem == "a process was not watched:"


def test_other_machines_record_nothing(monkeypatch):
    stopped_calls.check_available()
    monkeypatch.setattr(platform, "machine", lambda: "s390x")
    with pytest.raises(
        UnavailableError, match=r"is unavailable: this is .* with s390x; try: Linux with x86_64"
    ):
        stopped_calls.check_available()
