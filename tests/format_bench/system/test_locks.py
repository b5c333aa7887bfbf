"""Locks between processes."""

from __future__ import annotations

import os
import pwd
import select
import subprocess
import sys

import pytest

from format_bench.system.locks import lock, lock_host


@pytest.fixture(params=["file", "folder"])
def path(request, tmp_path):
    path = tmp_path / "a"
    path.touch() if request.param == "file" else path.mkdir()
    return path


def test_a_lock_excludes_others_until_it_is_closed(path):
    descriptor = lock(path)
    with pytest.raises(BlockingIOError):
        lock(path)
    os.close(descriptor)
    os.close(lock(path))


def test_a_lock_lasts_as_long_as_a_child_that_has_inherited_it(path):
    descriptor = lock(path)
    command = [sys.executable, "-c", "input()"]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[descriptor])
    os.close(descriptor)
    with pytest.raises(BlockingIOError):
        lock(path)
    child.communicate(b"\n")
    os.close(lock(path))


def test_a_lock_of_a_killed_process_is_released(path):
    code = "import sys; from pathlib import Path; from format_bench.system.locks import lock"
    code += "; lock(Path(sys.argv[1])); print(flush=True); input()"
    child = subprocess.Popen(
        [sys.executable, "-c", code, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    child.stdout.readline()
    with pytest.raises(BlockingIOError):
        lock(path)
    child.kill()
    child.communicate()
    os.close(lock(path))


def test_a_lock_leaves_nothing_in_a_folder(tmp_path):
    os.close(lock(tmp_path))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(FileNotFoundError):
        lock(tmp_path / "gone")


def test_a_host_is_locked_until_the_process_that_measures_there_is_killed(tmp_path):
    path = tmp_path / "host.lock"
    code = (
        "import sys; from pathlib import Path; from format_bench.system.locks import lock_host; "
        "found = lock_host(Path(sys.argv[1])); print('locked', flush=True); sys.stdin.read()"
    )

    def start() -> subprocess.Popen[str]:
        command = [sys.executable, "-c", code, str(path)]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    with start() as first:
        assert first.stdout.readline() == "locked\n"
        with start() as second:
            assert not select.select([second.stdout], [], [], 0.5)[0]
            first.kill()
            assert second.stdout.readline() == "locked\n"
            second.kill()


def test_a_holder_is_named_and_waited_for_so_long_alone(tmp_path):
    path = tmp_path / "host.lock"
    path.touch()
    code = "import fcntl, sys; f = open(sys.argv[1]); fcntl.flock(f, fcntl.LOCK_EX); "
    command = [sys.executable, "-c", code + "print(flush=True); input()", path]
    said = []
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        holder.stdout.readline()
        found = lock_host(path, 0.3, said.append)
        holder.communicate(b"\n")
    user = pwd.getpwuid(os.geteuid()).pw_name
    (line,) = said
    assert f"waiting for process {holder.pid} of user {user} ({sys.executable}" in line
    assert found.descriptor is None
    assert f"measured beside process {holder.pid} of user {user}" in found.remark
    assert lock_host(path).remark == ""


@pytest.mark.parametrize("kind", ["pipe", "link", "folder"])
def test_what_others_put_in_place_of_the_lock_is_not_waited_for(tmp_path, kind):
    path, victim = tmp_path / "host.lock", tmp_path / "victim"
    victim.touch()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "link":
        path.symlink_to(victim)
    else:
        path.mkdir()
    descriptor = lock(victim)
    found = lock_host(path, 60)
    os.close(descriptor)
    assert found.descriptor is None
    assert f"{path}, which cannot be locked" in found.remark
