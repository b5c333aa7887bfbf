"""Which engine to take for which format, by the newest run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from format_bench import engine_choice
from format_bench.dashboard.documents import as_html
from format_bench.dashboard.page import Page
from format_bench.results.records import BadResults

if TYPE_CHECKING:
    from format_bench.dashboard.newest import Newest


def engines(newest: Newest) -> Iterator[Page]:
    """Yield the page, unless no format was measured with several engines."""
    try:
        text = engine_choice.page(newest.results)
    except BadResults:
        return
    yield Page(
        "Which engine",
        "which-engine.html",
        as_html(text),
        "Which library to take for a format that several save and read.",
    )
