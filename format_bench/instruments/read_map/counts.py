"""Counts of reads that are independent of the map's: by strace, by /proc/self/io, by page residency.

A question is asked again for each, to the file itself, without the recording file system.
"""

from __future__ import annotations

import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from format_bench.instruments import isolation, page_cache

# Wall time of a save or an answer, as of cells of asv's suites at full scale, since FUSE is slow.
LIMIT_SECONDS = 1800.0

CALLS = "read,readv,pread64,preadv,preadv2"
"""System calls that strace counts."""

_PROGRAM = "import pickle, sys; call, path = pickle.load(sys.stdin.buffer); call(path)"

# Turns read-ahead off for every file that a process opens or maps, so that the pages in the page cache
# are those that were read. Own advice of the libraries is ignored, since it may cover more.
_SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
static int random_fd(int fd) {
  if (fd >= 0) syscall(SYS_fadvise64, fd, 0L, 0L, POSIX_FADV_RANDOM);
  return fd;
}
#define MODE int mode; va_list list; va_start(list, flags); mode = va_arg(list, int); va_end(list);
#define OPEN(name) int name(const char *path, int flags, ...) { MODE \
  return random_fd(syscall(SYS_openat, AT_FDCWD, path, flags, mode)); }
#define OPENAT(name) int name(int folder, const char *path, int flags, ...) { MODE \
  return random_fd(syscall(SYS_openat, folder, path, flags, mode)); }
#define FOPEN(name) FILE *name(const char *path, const char *how) { \
  FILE *(*next)(const char *, const char *) = dlsym(RTLD_NEXT, #name); \
  FILE *file = next(path, how); if (file) random_fd(fileno(file)); return file; }
#define MMAP(name) void *name(void *at, size_t size, int access, int flags, int fd, off_t from) { \
  void *(*next)(void *, size_t, int, int, int, off_t) = dlsym(RTLD_NEXT, #name); \
  void *found = next(at, size, access, flags, fd, from); \
  if (fd >= 0 && found != MAP_FAILED) syscall(SYS_madvise, found, size, MADV_RANDOM); return found; }
OPEN(open) OPEN(open64) OPENAT(openat) OPENAT(openat64)
FOPEN(fopen) FOPEN(fopen64) MMAP(mmap) MMAP(mmap64)
int posix_fadvise(int fd, off_t from, off_t size, int advice) { return 0; }
int posix_fadvise64(int fd, off_t from, off_t size, int advice) { return 0; }
int madvise(void *at, size_t size, int advice) {
  return advice == MADV_WILLNEED ? 0 : syscall(SYS_madvise, at, size, advice);
}
"""


@dataclass(frozen=True)
class Traced:
    """Reads of a file by system calls."""

    asked_bytes: int
    calls: int
    """Calls that returned at least one byte."""


@dataclass(frozen=True)
class Counted:
    """Independent counts of the reads of one answer; None where the means is missing or failed."""

    traced: Traced | None
    """By strace, without reads through memory maps."""
    process: Traced | None
    """By /proc/self/io: of all files, pipes and sockets, without reads through memory maps."""
    resident_bytes: int | None
    """Pages in the page cache after a cold read without read-ahead."""
    library: Traced | None
    """By the library's own counters, if it has any."""


def counted(call: Callable[[Path], None], path: Path) -> Counted:
    """Call again, in several new processes, counting the reads by every means that is installed."""
    path = path.resolve()
    process = isolation.run(_in_process, call, path, limit_seconds=LIMIT_SECONDS)
    library = isolation.run(_by_library, call, path, limit_seconds=LIMIT_SECONDS)
    return Counted(_by_strace(call, path), process.value, _by_residency(call, path), library.value)


def traced_in(lines: Iterable[str], path: Path) -> Traced:
    """Return the reads of a file, or below a directory, in the output of ``strace -f -y``."""
    place = re.compile(rf"^\w+\(\d+<{re.escape(str(path))}[/>]")
    unfinished: set[str] = set()
    asked = calls = 0
    for line in lines:
        thread, _, event = line.partition(" ")
        event = event.lstrip()
        if place.match(event):
            if event.rstrip().endswith("<unfinished ...>"):
                unfinished.add(thread)
                continue
        elif event.startswith("<... ") and thread in unfinished:
            unfinished.remove(thread)
        else:
            continue
        size = int(event.rpartition("= ")[2].split()[0])
        asked += max(size, 0)
        calls += size > 0
    return Traced(asked, calls)


def _by_strace(call: Callable[[Path], None], path: Path) -> Traced | None:
    strace = shutil.which("strace")
    if strace is None:
        return None
    with tempfile.NamedTemporaryFile("r", encoding="utf-8", errors="replace") as log:
        options = ["-f", "-y", "-s", "0", "-e", f"trace={CALLS}", "-e", "signal=none", "-o", log.name]
        succeeded = _run([strace, *options], call, path, {})
        return traced_in(log, path) if succeeded else None


def _by_residency(call: Callable[[Path], None], path: Path) -> int | None:
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        source, shim = Path(folder, "random.c"), Path(folder, "random.so")
        source.write_text(_SHIM, encoding="ascii")
        subprocess.run([compiler, "-shared", "-fPIC", "-o", shim, source, "-ldl"], check=True)  # noqa: S603 (fixed arguments)
        page_cache.make_cold(path)
        if not _run([], call, path, {"LD_PRELOAD": str(shim)}):
            return None
        return page_cache.resident_bytes(path)


def _run(
    before: list[str], call: Callable[[Path], None], path: Path, environment: dict[str, str]
) -> bool:
    """Call in a new program; return True if it succeeded."""
    done = subprocess.run(  # noqa: S603 (fixed arguments)
        [*before, sys.executable, "-c", _PROGRAM],
        input=pickle.dumps((call, path)),
        env={**os.environ, **environment},
        capture_output=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    return done.returncode == 0


def _in_process(call: Callable[[Path], None], path: Path) -> Traced:
    """Return the growth of this process' own counters during a call."""
    # A copy is read first, so that no module is imported in between, and no library knows the file.
    copy = path.with_name(f"copy-of-{path.name}")
    try:
        if path.is_dir():
            shutil.copytree(path, copy, symlinks=True)
        else:
            shutil.copyfile(path, copy)
        call(copy)
    finally:
        shutil.rmtree(copy, ignore_errors=True)
        copy.unlink(missing_ok=True)
    start = page_cache.read_counters()
    call(path)
    grown = page_cache.read_counters() - start
    return Traced(grown.asked_bytes, grown.calls)


def _by_library(call: Callable[[Path], None], path: Path) -> Traced | None:
    """Return the counts of uproot or ROOT themselves; None if a call uses neither."""
    # The first call shows which libraries it uses, and the second is counted.
    call(path)
    if "ROOT" in sys.modules:
        import ROOT

        start = Traced(ROOT.TFile.GetFileBytesRead(), ROOT.TFile.GetFileReadCalls())
        call(path)
        asked = ROOT.TFile.GetFileBytesRead() - start.asked_bytes
        return Traced(int(asked), int(ROOT.TFile.GetFileReadCalls() - start.calls))
    if "uproot" in sys.modules:
        import uproot

        sources: list[Any] = []
        original = uproot.open

        def opened(*arguments: Any, **options: Any) -> Any:
            found = original(*arguments, **options)
            sources.append(found.file.source)
            return found

        uproot.open = opened
        call(path)
        asked = sum(each.num_requested_bytes for each in sources)
        return Traced(asked, sum(each.num_requested_chunks for each in sources))
    return None
