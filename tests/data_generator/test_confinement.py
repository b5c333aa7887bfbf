"""Confined processes: what a compromised reader tries is refused, and limits end it with one line."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from adapter_core.errors import InvalidDataError
from data_generator.confinement import kernel
from data_generator.confinement.limits import DataLimits
from data_generator.confinement.process import call
from tests.helpers import ROOT


@pytest.fixture(autouse=True)
def tasks(monkeypatch):
    """Let confined processes import the tasks of tests."""
    monkeypatch.syspath_prepend(str(ROOT))


def answer(task: str, folder: Path, limits: DataLimits = DataLimits(), **arguments):  # noqa: B008
    place = "my.csv"
    name = f"tests.factories.planted_readers:{task}"
    remarks: list[str] = []
    found = call(
        name, arguments, place=place, folder=folder / "own", limits=limits, remark=remarks.append
    )
    assert remarks == []
    return found


def test_nothing_outside_of_the_folder_is_changed(tmp_path):
    mine = tmp_path / "mine"
    mine.write_text("mine", encoding="utf-8")
    before = mine.stat()
    found = answer("spoil", tmp_path, path=str(mine), new=str(tmp_path / "new"))
    # A second name in another folder is refused as if that were on another disk.
    assert found.pop("second name") == "OSError"
    assert found == dict.fromkeys(found, "PermissionError")
    assert len(found) == 8
    assert mine.read_text(encoding="utf-8") == "mine"
    assert (mine.stat().st_mode, mine.stat().st_mtime_ns) == (before.st_mode, before.st_mtime_ns)
    assert {each.name for each in tmp_path.iterdir()} == {"mine", "own"}


def test_its_own_folder_and_temporary_files_are_written(tmp_path):
    assert answer("inside", tmp_path, where=str(tmp_path / "own")) == "done"
    assert {each.name for each in (tmp_path / "own").iterdir()} == {"a", "b"}


def test_no_network_no_program_and_no_other_process_is_reached(tmp_path, monkeypatch):
    mark = tmp_path / "mark"
    secret = {"AWS_SECRET_ACCESS_KEY": "s3cret"}
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s3cret")
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as local,
        subprocess.Popen([sys.executable, "-c", "input()"], env=secret, stdin=subprocess.PIPE) as other,
    ):
        local.bind(str(tmp_path / "socket"))
        local.listen()
        found = answer(
            "reach",
            tmp_path,
            port=server.getsockname()[1],
            path=str(tmp_path / "socket"),
            mark=str(mark),
            pid=other.pid,
        )
        assert other.poll() is None
        other.kill()
    assert found.pop("variable") == ""
    assert found == dict.fromkeys(found, "PermissionError")
    assert len(found) == 10
    assert not mark.exists()


LIMITED = [
    ("allocate", {"count": 10**9}, DataLimits(memory_bytes=4 * 10**8), "400.0 MB of memory", "memory"),
    ("loop", {}, DataLimits(seconds=1), "1 seconds", "seconds"),
    ("fill", {"files": 1, "size": 10**7}, DataLimits(disk_bytes=10**6), "1.0 MB of disk", "disk"),
    ("fill", {"files": 10, "size": 10**6}, DataLimits(disk_bytes=5 * 10**6), "5.0 MB of disk", "disk"),
]


@pytest.mark.parametrize("case", LIMITED)
def test_each_limit_ends_the_process_and_names_its_option(case, tmp_path):
    task, arguments, limits, taken, option = case
    with pytest.raises(InvalidDataError) as error:
        answer(task, tmp_path, limits, **arguments)
    line = f"my.csv: takes more than {taken} to read; allow more by --data-{option}"
    assert str(error.value) == line


def test_limits_cannot_be_raised_from_inside(tmp_path):
    assert answer("raise_limit", tmp_path) == "refused"


def test_a_crash_is_told_in_one_line(tmp_path):
    with pytest.raises(InvalidDataError, match=r"^my.csv: is damaged: .* died \(SIGSEGV\)$"):
        answer("crash", tmp_path)


@pytest.mark.parametrize("kind", ["pickle", "link", "pipe", "list"])
def test_an_answer_is_data_or_none(kind, tmp_path):
    mark = tmp_path / "own" / "mark"
    with pytest.raises(InvalidDataError, match="its process ended with status 0"):
        answer("forge", tmp_path, kind=kind, mark=str(mark))
    assert not mark.exists()


def test_what_the_kernel_cannot_do_is_told_in_one_line(tmp_path):
    remarks: list[str] = []
    task = "tests.factories.planted_readers:forge"
    arguments = {"kind": "gaps", "mark": ""}
    assert call(task, arguments, place="my.csv", folder=tmp_path, remark=remarks.append) == 1
    start = "the kernel of this machine cannot keep the process that reads from "
    assert remarks == [f"{start}writing outside of its folder; using\N{REPLACEMENT CHARACTER}"]


def test_a_module_in_the_working_directory_is_not_imported(tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text(f"open({str(tmp_path / 'mark')!r}, 'w')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert answer("text", tmp_path) == "a\x1b[31mb"
    assert not (tmp_path / "mark").exists()


def test_a_kernel_that_cannot_help_is_named(monkeypatch):
    monkeypatch.setattr(kernel.platform, "machine", lambda: "riscv64")
    assert kernel._seccomp() == ["using the network or starting programs"]
    monkeypatch.setattr(kernel, "_libc", _Without)
    assert kernel._landlock([Path("/")]) == ["writing outside of its folder"]


class _Without:
    """A C library on a kernel without Landlock."""

    def syscall(self, *_: object) -> int:
        return -1


def test_nothing_is_left_beside_what_the_task_leaves(tmp_path):
    answer("text", tmp_path)
    assert list((tmp_path / "own").iterdir()) == []
