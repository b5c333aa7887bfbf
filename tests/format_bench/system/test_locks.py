"""Locks between processes."""

from __future__ import annotations

import os
import select
import subprocess
import sys

import pytest

from format_bench.system.locks import lock


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
        "lock_host(Path(sys.argv[1])); print('locked', flush=True); sys.stdin.read()"
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
