"""The changes as a feed: Atom, RFC 4287."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from format_bench.changes.change import NAMESPACE
from format_bench.changes.templating import render

if TYPE_CHECKING:
    from format_bench.changes.told import Told

MOST_ENTRIES = 100
"""The newest changes; readers keep what they have seen, and the page has all."""


def feed(found: Sequence[Told], site_url: str) -> str:
    """Return the changes of all lines, the newest first.

    Parameters
    ----------
    found : sequence of Told
        What there is to tell.
    site_url : str
        Where the site stands, with a slash at its end. If empty, links are relative to the feed.
    """
    changes = [change for told in found for change in told.changes]
    changes.sort(key=lambda change: change.since.date, reverse=True)
    return render(
        "changes.xml",
        identity=uuid.uuid5(NAMESPACE, site_url or "feed").urn,
        updated=_time(max(told.line.points[-1].date for told in found)),
        site_url=site_url,
        entries=[(change, _time(change.since.date)) for change in changes[:MOST_ENTRIES]],
    )


def _time(date: datetime) -> str:
    """Return a date as RFC 3339 has it."""
    return f"{date:%Y-%m-%dT%H:%M:%SZ}"
