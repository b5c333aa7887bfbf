"""The files for feed readers, programs and other people's pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from format_bench.changes.as_json import as_json
from format_bench.changes.badge import badge
from format_bench.changes.feed import feed
from format_bench.changes.told import told

if TYPE_CHECKING:
    from format_bench.changes.points import History
    from format_bench.results.noise_floor import Floors

FEED, JSON, BADGE = "changes.xml", "changes.json", "badge.svg"


def site_files(history: History, floors: Floors | None, site_url: str) -> dict[str, str]:
    """Return the text of each file by its name: a feed, JSON, and a badge of the newest line.

    Parameters
    ----------
    history : History
        All results.
    floors : Floors, optional
        By how much two equal measurements differ on the machine.
    site_url : str
        Where the site will stand, with a slash at its end; empty if that is not known.
    """
    found = told(history, floors)
    return {FEED: feed(found, site_url), JSON: as_json(found), BADGE: badge(found[0])}
