"""Text from files, libraries and users, made safe to print."""

from __future__ import annotations

import re
from collections.abc import Sequence


def printable(text: str) -> str:
    """Return text on one line; characters that a terminal would obey become U+FFFD."""
    return visible(" ".join(text.split()))


# Characters of a message that a record keeps: a paragraph. Some messages repeat a whole table.
_LONGEST_REASON = 500


def shortened(message: str) -> str:
    """Return a library's message as a reason in a record: on one line, and cut if it is long."""
    return " ".join(message.split())[:_LONGEST_REASON]


# Of objects as Java and Python print them: org.example.Page$Head@1a2b3c, [B@1a2b3c, <Page at 0x7f1a2b>.
_ADDRESS = re.compile(
    r"(\b(?:\w+\.)+[A-Z][\w$]*|\[(?:[BCDFIJSZ]|L[\w.$]+;))@[0-9a-f]{1,8}\b| at 0x[0-9a-f]+(?=>)"
)


def without_addresses(message: str) -> str:
    """Return a library's message without addresses of objects, which differ from process to process."""
    return _ADDRESS.sub(r"\1", message)


def listed(names: Sequence[str], most: int = 10) -> str:
    """Return names with commas, and "..." in place of those after the first `most`."""
    return ", ".join([*names[:most], *(["..."] if len(names) > most else [])])


def visible(text: str) -> str:
    """Return text with its lines and spaces; characters that a terminal would obey become U+FFFD."""
    return "".join(c if c.isprintable() or c in _KEPT else "\N{REPLACEMENT CHARACTER}" for c in text)


_KEPT = "\n\t\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{THIN SPACE}"
