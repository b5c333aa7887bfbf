"""Counts of reads by strace, /proc and page residency, on reads of known pages."""

from __future__ import annotations

import mmap
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from adapter_core.errors import NotColdError
from format_bench.instruments import page_cache
from format_bench.instruments.read_map import counts, reads_of, reason_against_exact
from format_bench.instruments.read_map.counts import Traced

PAGE = mmap.PAGESIZE

LINES = """\
12 read(3</a/table/x>, ""..., 4096) = 4096
12 read(3</a/table/x>, "", 4096) = 0
12 pread64(4</a/table/x>, ""..., 10, 5) = 7
13 pread64(4</a/table/y z>,  <unfinished ...>
12 read(5</a/other>, ""..., 100) = 100
14 read(5</a/tables>,  <unfinished ...>
13 <... pread64 resumed>""..., 50, 0) = 50
14 <... read resumed>""..., 50) = 50
12 read(3</a/table/x>, 0x1, 4) = -1 EINTR (Interrupted system call)
12 +++ exited with 0 +++
"""


def test_lines_of_strace_count_for_the_files_below_a_path():
    assert counts.traced_in(LINES.splitlines(), Path("/a/table")) == Traced(4096 + 7 + 50, 3)
    assert counts.traced_in(LINES.splitlines(), Path("/a/table/y z")) == Traced(50, 1)
    assert counts.traced_in(LINES.splitlines(), Path("/nowhere")) == Traced(0, 0)


def read_known_pages(path):
    file = os.open(path, os.O_RDONLY)
    for page in (10, 20, 20, 900):
        os.pread(file, PAGE, page * PAGE)
    os.pread(file, PAGE, 2_000 * PAGE)
    with mmap.mmap(file, 0, access=mmap.ACCESS_READ) as pages:
        pages[500 * PAGE]
        pages[501 * PAGE]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    found = tmp_path_factory.mktemp("counts") / "file"
    found.write_bytes(os.urandom(1_000 * PAGE))
    page_cache.sync(found)
    return found


@pytest.fixture(scope="module")
def counted(path):
    try:
        return counts.counted(read_known_pages, path)
    except NotColdError as error:
        pytest.skip(str(error))


def test_strace_counts_the_calls_that_read(counted):
    if shutil.which("strace") is None:
        assert counted.traced is None
    elif subprocess.run(["strace", "-o", os.devnull, "true"], check=False).returncode:
        pytest.skip("strace may not trace here")
    else:
        assert counted.traced == Traced(4 * PAGE, 4)


def test_the_process_counters_contain_the_calls_and_little_else(counted):
    assert 5 <= counted.process.calls < 20
    assert 4 * PAGE <= counted.process.asked_bytes < 5 * PAGE


def test_without_read_ahead_the_pages_that_were_read_are_resident(counted):
    if shutil.which("cc") is None:
        assert counted.resident_bytes is None
    else:
        assert counted.resident_bytes == 5 * PAGE


def test_the_map_agrees_with_all_of_them(counted, path):
    reason = reason_against_exact()
    if reason:
        pytest.skip(f"exact maps are not possible here: {reason}")
    found = reads_of(read_known_pages, path)
    # Pages of maps are requests too.
    assert (found.asked_bytes, found.requests) == (6 * PAGE, 6)
    assert found.page_bytes == 5 * PAGE
    assert counted.library is None


def test_means_that_are_missing_count_nothing(path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert counts._by_strace(read_known_pages, path) is None
    assert counts._by_residency(read_known_pages, path) is None
