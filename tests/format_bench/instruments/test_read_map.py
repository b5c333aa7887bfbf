"""The map of reads: exact for every way to read, nothing left behind, and a fallback."""

from __future__ import annotations

import ctypes
import mmap
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from adapter_core.errors import ReadsNotMappedError, UnavailableError
from format_bench.instruments import isolation, page_cache
from format_bench.instruments.read_map import Method, ReadMap, reads_of, reason_against_exact, recording
from format_bench.instruments.read_map.reads import READS

PAGE = mmap.PAGESIZE
PAGES = 4_096
SIZE = PAGES * PAGE - 100

BY_PREAD = (3, 7, 1_000, 1_001, 2_040)
BY_READ = (50, 51, 52, 53)
BY_MAP = (100, 300, 301, 500, 4_095)
BY_STDIO = (60, 70, 71, 900, 2_900, 3_000, 3_900, 4_000)
KNOWN = sorted((*BY_PREAD, *BY_READ, *BY_MAP, *BY_STDIO))


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    found = tmp_path_factory.mktemp("map") / "a file.bin"
    found.write_bytes(os.urandom(SIZE))
    return found


@pytest.fixture(scope="module")
def _exact():
    reason = reason_against_exact()
    if reason:
        pytest.skip(f"exact maps are not possible here: {reason}")


# --- calls in fresh processes ----------------------------------------------------------------------


def read_known_pages(path):
    file = os.open(path, os.O_RDONLY)
    for page in (*BY_PREAD, BY_PREAD[0]):
        os.pread(file, PAGE, page * PAGE)
    os.lseek(file, BY_READ[0] * PAGE, os.SEEK_SET)
    for _ in BY_READ:
        os.read(file, PAGE)
    with mmap.mmap(file, 0, access=mmap.ACCESS_READ) as pages:
        for page in (*BY_MAP, BY_MAP[0]):
            pages[page * PAGE + 17]
    libc = ctypes.CDLL(None)
    libc.fopen.restype = ctypes.c_void_p
    stream = ctypes.c_void_p(libc.fopen(os.fsencode(path), b"rb"))
    buffer = ctypes.create_string_buffer(PAGE)
    for page in BY_STDIO:
        libc.fseek(stream, ctypes.c_long(page * PAGE), 0)
        libc.fread(buffer, 1, PAGE, stream)
    libc.fclose(stream)


def advise_and_read_two_pages(path):
    file = os.open(path, os.O_RDONLY)
    os.posix_fadvise(file, 0, SIZE, os.POSIX_FADV_WILLNEED)
    os.pread(file, PAGE, 5 * PAGE)
    with mmap.mmap(file, 0, access=mmap.ACCESS_READ) as pages:
        pages.madvise(mmap.MADV_WILLNEED)
        pages[9 * PAGE]
        pages.madvise(mmap.MADV_DONTNEED)
        pages[9 * PAGE]


def read_all(path):
    return path.read_bytes()


def read_and_die(path):
    read_all(path)
    os.kill(os.getpid(), signal.SIGKILL)


def read_and_hang(path):
    read_all(path)
    time.sleep(600)


def read_without_server(path):
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii")
    (server,) = map(int, children.split())
    os.kill(server, signal.SIGKILL)
    os.waitpid(server, 0)
    read_all(path)


def write(path):
    path.write_bytes(b"")


def walk(path):
    found = sorted(str(each.relative_to(path)) for each in path.rglob("*"))
    (path / "folder" / "deeper" / "y").read_bytes()
    with (path / "link").open("rb", buffering=0) as file:
        file.read(10)
    return found, sorted(each.name for each in path.parent.iterdir())


# --- exact maps ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("_exact")
def test_22_pages_by_pread_read_map_and_stdio_are_recorded_exactly_and_in_order(path):
    found = reads_of(read_known_pages, path)
    assert found.method is Method.EXACT
    assert len(KNOWN) == 22
    pages = (found.reads["offset"] // PAGE).tolist()
    assert pages == [*BY_PREAD, BY_PREAD[0], *BY_READ, *BY_MAP, *BY_STDIO]
    assert found.requests == 23
    # The file ends 100 bytes before the end of its last page.
    assert found.distinct_bytes == 22 * PAGE - 100
    assert found.asked_bytes == 23 * PAGE - 100
    assert found.page_bytes == 22 * PAGE
    assert found.share == found.distinct_bytes / SIZE
    assert found.median_request_bytes == PAGE
    assert found.sequential_share == pytest.approx((1 + 3 + 1 + 1) / 22)
    assert (np.diff(found.reads["seconds"]) >= 0).all()
    assert found.reads["seconds"][0] >= 0


@pytest.mark.usefixtures("_exact")
def test_a_whole_read_is_recorded_whole_in_pieces_and_its_result_is_that_of_the_file(path):
    found = reads_of(read_all, path)
    assert found.value == path.read_bytes()
    assert found.distinct_bytes == found.asked_bytes == SIZE
    assert found.share == 1
    assert found.sequential_share == 1
    assert found.reads["bytes"].max() == 1 << 20


@pytest.mark.usefixtures("_exact")
def test_advice_is_not_a_read(path):
    found = reads_of(advise_and_read_two_pages, path)
    assert found.reads[["offset", "bytes"]].tolist() == [(5 * PAGE, PAGE), (9 * PAGE, PAGE)]


@pytest.mark.usefixtures("_exact")
def test_directories_and_links_are_read_at_their_own_place(tmp_path):
    table, beside = tmp_path / "table", tmp_path / "beside"
    (table / "folder" / "deeper").mkdir(parents=True)
    (table / "x").write_bytes(b"x" * 1_000)
    (table / "folder" / "deeper" / "y").write_bytes(b"y" * 2_000)
    (table / "link").symlink_to("x")
    beside.write_bytes(b"")
    found = reads_of(walk, table)
    assert found.value == (
        ["folder", "folder/deeper", "folder/deeper/y", "link", "x"],
        ["beside", "table"],
    )
    assert list(found.files.items()) == [("folder/deeper/y", 2_000), ("x", 1_000)]
    assert found.reads["file"].tolist() == [0, 1]
    assert found.places.tolist() == [0, 2_000]
    assert found.reads["bytes"].tolist() == [2_000, 10]
    assert found.files_read == 2


@pytest.mark.usefixtures("_exact")
def test_a_call_cannot_write(path):
    with pytest.raises(ReadsNotMappedError, match="Read-only file system"):
        reads_of(write, path)
    assert path.stat().st_size == SIZE


# --- nothing is left behind ------------------------------------------------------------------------


def viewers(path):
    """Return the processes that see a mount at a path."""
    place = str(path).replace(" ", "\\040")
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if place in (process / "mountinfo").read_text(encoding="utf-8"):
                found.append(process.name)
        except OSError:
            continue  # it has ended
    return found


def assert_nobody_sees_a_mount(path):
    end = time.monotonic() + 30
    while viewers(path) and time.monotonic() < end:
        time.sleep(0.05)
    assert viewers(path) == []


@pytest.mark.usefixtures("_exact")
@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (read_and_die, r"was killed \(SIGKILL\)"),
        (read_and_hang, "not finished after 2 seconds"),
        (read_without_server, "Transport endpoint is not connected"),
    ],
)
def test_nothing_is_left_of_a_reader_or_server_that_was_killed(path, call, sentence):
    with pytest.raises(ReadsNotMappedError, match=sentence):
        reads_of(call, path, limit_seconds=2 if call is read_and_hang else 60)
    assert_nobody_sees_a_mount(path)
    assert len(path.read_bytes()) == SIZE


@pytest.mark.usefixtures("_exact")
def test_nothing_is_left_when_the_whole_program_is_killed(path):
    code = (
        "from pathlib import Path; from format_bench.instruments.read_map import reads_of\n"
        "from tests.format_bench.instruments.test_read_map import read_and_hang\n"
        f"if __name__ == '__main__': reads_of(read_and_hang, Path({str(path)!r}))"
    )
    with subprocess.Popen([sys.executable, "-c", code]) as program:
        end = time.monotonic() + 60
        while not viewers(path) and time.monotonic() < end:
            time.sleep(0.05)
        assert viewers(path)
        program.kill()
    assert_nobody_sees_a_mount(path)


# --- where exact maps are not permitted ------------------------------------------------------------


def test_without_the_device_the_reason_names_it():
    outcome = isolation.run(recording._mount_probe, "/dev/no-such-device", limit_seconds=30)
    assert not outcome.status, outcome.sentence
    possible = (
        "/dev/no-such-device cannot be opened (No such file or directory)",
        *("unshare is not permitted", "mount is not permitted"),
    )
    assert outcome.value.startswith(possible)


def test_an_exact_map_that_is_not_permitted_is_refused_with_the_reason_and_the_remedy(path, monkeypatch):
    monkeypatch.setattr(recording, "reason_against_exact", lambda: "/dev/fuse is missing")
    with pytest.raises(UnavailableError) as caught:
        reads_of(read_all, path, method=Method.EXACT)
    assert str(caught.value) == (
        "the exact map of reads is unavailable: /dev/fuse is missing; try: Linux 6.6 or later as root, "
        "or as a user who may open /dev/fuse and make a user namespace"
    )


def test_the_fallback_is_an_upper_bound_with_the_read_ahead(path, monkeypatch):
    monkeypatch.setattr(recording, "reason_against_exact", lambda: "/dev/fuse is missing")
    page_cache.sync(path)
    try:
        found = reads_of(read_known_pages, path)
    except ReadsNotMappedError as error:
        pytest.skip(f"the file cannot be evicted: {error}")
    assert found.method is Method.RESIDENCY
    assert 22 * PAGE - 100 <= found.distinct_bytes <= SIZE
    assert found.read_ahead_bytes == page_cache.read_ahead_bytes(path)
    resident = {
        page
        for first, size in found.reads[["offset", "bytes"]].tolist()
        for page in range(first // PAGE, -(-(first + size) // PAGE))
    }
    assert resident >= set(KNOWN)
    unknown = found.asked_bytes, found.requests, found.median_request_bytes, found.sequential_share
    assert unknown == (None,) * 4


def test_a_path_that_does_not_exist_is_not_read(tmp_path):
    with pytest.raises(FileNotFoundError):
        reads_of(read_all, tmp_path / "nothing")


# --- figures ---------------------------------------------------------------------------------------


def map_of(*reads, files=None):
    table = np.array([(file, 0, offset, size, 0.0) for file, offset, size in reads], READS)
    return ReadMap(Method.EXACT, files or {"": 1_000}, table)


def test_overlapping_reads_count_once_among_the_distinct_bytes():
    found = map_of((0, 0, 100), (0, 50, 100), (0, 60, 10), (0, 500, 100), (0, 500, 100))
    assert found.asked_bytes == 410
    assert found.distinct_bytes == 250
    assert found.share == 0.25
    starts, times = found.coverage
    assert starts.tolist() == [0, 50, 60, 70, 100, 150, 500, 600]
    assert times.tolist() == [1, 2, 3, 2, 1, 0, 2, 0]
    assert found.times_read.tolist() == [1, 1.5, 3, 1, 2]


def test_requests_to_several_files_may_alternate_and_still_be_sequential():
    files = {"a": 100, "b": 100}
    found = map_of((0, 0, 50), (1, 0, 30), (0, 50, 50), (1, 30, 70), files=files)
    assert found.sequential_share == 1
    assert found.places.tolist() == [0, 100, 50, 130]
    assert found.page_bytes == 2 * PAGE


def test_nothing_read_is_a_map_too():
    found = map_of()
    assert (found.share, found.requests, found.asked_bytes, found.sequential_share) == (0, 0, 0, None)
    assert found.median_request_bytes is None
    assert found.times_read.tolist() == []
    assert map_of(files={}).share == 0


def test_a_call_may_be_a_partial_of_a_function(path):
    found = reads_of(partial(len_of, 2), path)
    assert found.value == 2 * SIZE


def len_of(factor, path):
    return factor * len(path.read_bytes())
