"""Scheduler of xdist's processes: the adapters of a library, or a file of tests, go to one."""

from __future__ import annotations

from xdist.scheduler import LoadScopeScheduling

from format_bench.conformance.selection import group_of


class LibraryScheduling(LoadScopeScheduling):  # type: ignore[misc] # xdist declares no types
    """Scheduler for ``--dist loadgroup``.

    xdist's own takes groups from markers, and with pytest 9.2 it finds none: it appends them to an
    attribute that pytest has given up, so that each test would go to any process.
    """

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)
