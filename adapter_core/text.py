"""Text from files, libraries and users, made safe to print."""

from __future__ import annotations


def printable(text: str) -> str:
    """Return text on one line; characters that a terminal would obey become U+FFFD."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(text.split()))
