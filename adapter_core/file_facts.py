"""Declared facts of saved files, beside the codec, which a test compares with the files themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class FileFacts:
    """Settings that an adapter's files have whatever the codec, and how its library works unasked."""

    version: str = ""
    """Version of the format that the library writes unasked; empty if files have none."""
    parts: Mapping[str, str | int] = field(default_factory=dict)
    """Further facts by name, e.g. "encodings"; a number is the most rows of a part, e.g. "row group"."""
    silent: str = ""
    """Reason why files record none of this, as a clause; empty if they do."""
    threads: str = ""
    """Threads of the library unasked, e.g. "all cores"; empty if it is not known."""
    mapped: bool = False
    """True if reads map the file unasked."""
    differs: str = ""
    """Settings other than the library's own, beside the codec, with the reason; empty if none are."""

    def told(self, codec: str | None) -> dict[str, str | int]:
        """Return the facts that a file with a codec records, by name; empty if there are none."""
        if self.silent:
            return {}
        version = {"version": self.version} if self.version else {}
        return {"codec": codec or "none", **version, **self.parts}
