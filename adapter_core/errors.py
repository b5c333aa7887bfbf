"""The errors that the project raises on purpose.

FormatBenchError
├── UnknownName      no adapter, data set, column or codec has that name
├── UnknownLevel     the codec has no such level, or no levels
├── Unavailable      the adapter's package is missing, too old or broken on this machine
└── Unsupported      the format, or its library, has no such feature
    └── CannotHold   the format cannot hold this table; raised before anything is written
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class FormatBenchError(Exception):
    """Base of all errors that carry a sentence meant for the user."""


class UnknownName(FormatBenchError, LookupError):
    """A name that nothing answers to; the message lists the nearest ones.

    Parameters
    ----------
    what : str
        The kind of thing that was asked for, as in "data format".
    name : str
        The name that was asked for.
    known : iterable of str
        The names that exist.
    """

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        self.name = name
        known = sorted(known)
        lowered = {label.lower(): label for label in known}
        near = difflib.get_close_matches(name.lower(), lowered, n=3, cutoff=0.5)
        self.near = [lowered[match] for match in near]
        hint = f"did you mean {' or '.join(self.near)}?" if near else f"known: {', '.join(known)}"
        super().__init__(f"there is no {what} {name!r}; {hint}")


class UnknownLevel(FormatBenchError, ValueError):
    """A compression level that the codec does not have."""


class Unavailable(FormatBenchError):
    """An adapter, or a codec of it, that exists but cannot work on this machine.

    Parameters
    ----------
    label : str
        The adapter's label, and the codec's name where only that cannot work.
    reason : str
        Why it cannot work, as a phrase.
    install_hint : str
        The command that would make it work.
    """

    def __init__(self, label: str, reason: str, install_hint: str) -> None:
        self.label = label
        self.reason = reason
        self.install_hint = install_hint
        super().__init__(f"{label} is unavailable: {reason}; try: {install_hint}")


class Unsupported(FormatBenchError):
    """Something that the format, or its library, does not offer."""


class CannotHold(Unsupported, ValueError):
    """A table that the format cannot hold as it is; nothing was written."""
