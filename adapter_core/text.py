"""Text from files, libraries and users, made safe to print."""

from __future__ import annotations

from collections.abc import Sequence


def printable(text: str) -> str:
    """Return text on one line; characters that a terminal would obey become U+FFFD."""
    return visible(" ".join(text.split()))


# Characters of a message that a record keeps: a paragraph. Some messages repeat a whole table.
_LONGEST_REASON = 500


def shortened(message: str) -> str:
    """Return a library's message as a reason in a record: on one line, and cut if it is long."""
    return " ".join(message.split())[:_LONGEST_REASON]


def listed(names: Sequence[str], most: int = 10) -> str:
    """Return names with commas, and "..." in place of those after the first `most`."""
    return ", ".join([*names[:most], *(["..."] if len(names) > most else [])])


def visible(text: str) -> str:
    """Return text with its lines and spaces; characters that a terminal would obey become U+FFFD."""
    return "".join(c if c.isprintable() or c in _KEPT else "\N{REPLACEMENT CHARACTER}" for c in text)


_KEPT = "\n\t\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{THIN SPACE}"
