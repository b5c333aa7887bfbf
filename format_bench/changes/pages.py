"""The pages on what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from format_bench.changes.changes_page import changes_page
from format_bench.changes.told import told
from format_bench.changes.versions_page import versions_page

if TYPE_CHECKING:
    from format_bench.changes.points import History
    from format_bench.dashboard.page import Page
    from format_bench.results.noise_floor import Floors


def pages(history: History, floors: Floors | None) -> list[Page]:
    """Return the pages, before they are put into a frame.

    Parameters
    ----------
    history : History
        All results.
    floors : Floors, optional
        By how much two equal measurements differ on the machine.
    """
    found = told(history, floors)
    return [changes_page(found, floors), versions_page(history, found)]
