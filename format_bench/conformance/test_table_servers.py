"""Tables on servers: refused with the reason, and without a request, where the library lacks them."""

from __future__ import annotations

import re

import pytest

from adapter_core import RemoteFile, RemoteTable, UnsupportedError
from format_bench.conformance.tables import ordinary

NOWHERE = RemoteFile("none://host/key")


def test_other_protocols_are_refused(adapter):
    if not isinstance(adapter, RemoteTable):
        pytest.skip("it reads and writes local files, which another test shows")
    with pytest.raises(UnsupportedError, match=r" reads \S.*, not none"):
        adapter.read_remote(NOWHERE)
    writes = r" writes \S.*, not none" if adapter.save_schemes else " has no writer to object stores: "
    for call in (
        lambda: adapter.save_remote(ordinary(), NOWHERE),
        lambda: adapter.partitioned_remote(NOWHERE),
    ):
        with pytest.raises(UnsupportedError, match=writes):
            call()


def test_formats_of_local_files_say_why(adapter):
    if isinstance(adapter, RemoteTable):
        pytest.skip("it reaches servers, which another test shows")
    with pytest.raises(
        UnsupportedError, match="no reader of files on servers: it reads local files only"
    ):
        adapter.read_remote(NOWHERE)
    for call in (
        lambda: adapter.save_remote(ordinary(), NOWHERE),
        lambda: adapter.partitioned_remote(NOWHERE),
        lambda: adapter.count_rows_remote(NOWHERE),
    ):
        with pytest.raises(UnsupportedError, match=re.escape(f"stores: {adapter.local_only}")):
            call()
