"""Base class of open files that readers keep for random access."""

from __future__ import annotations

from abc import ABC
from types import TracebackType
from typing import Self


class Reader(ABC):  # noqa: B024 (what is read is up to the kind of data)
    """An open file, and a context manager that closes it; `close` is for those that keep it open."""

    def close(self) -> None:  # noqa: B027 (many readers keep no file open)
        """Release the file; a second call does nothing."""

    def __enter__(self) -> Self:
        """Return the reader itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the reader."""
        self.close()
