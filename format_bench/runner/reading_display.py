"""Display while a user's data are read: nothing for a second, then their name and the time so far."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Self

from adapter_core.text import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

SHOWN_SECONDS = 1.0
# Time of the first line where lines stay; each further one comes after twice the time.
FIRST_LINE_SECONDS = 60.0


def reading_line(place: str, seconds: float) -> str:
    """Return the name of the data being read, and for how long."""
    return f"reading {printable(place)}: {seconds:,.0f} s"


class ReadingLines:
    """Watch of a process that reads, which shows few lines.

    Parameters
    ----------
    place : str
        The file or folder.
    show : callable
        Receiver of the lines.
    """

    def __init__(self, place: str, show: Callable[[str], object]) -> None:
        self._place, self._show, self._next = place, show, FIRST_LINE_SECONDS

    def __call__(self, seconds: float) -> None:
        """Show a line if it is time for one."""
        if seconds >= self._next:
            self._next *= 2
            self._show(reading_line(self._place, seconds))


class OneLine:
    """A line in place on a terminal; elsewhere lines one below another.

    Parameters
    ----------
    console : Console
        The output.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._status: Status | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()

    def show(self, line: str) -> None:
        """Show a line."""
        if not self._console.is_terminal:
            self._console.print(line, soft_wrap=True)
            return
        if self._status is None:
            self._status = self._console.status(line)
            self._status.start()
        self._status.update(line)


class ReadingDisplay(OneLine):
    """Watch of a process that reads: on a terminal one line in place, elsewhere few lines.

    Parameters
    ----------
    console : Console
        The output.
    place : str
        The file or folder.
    """

    def __init__(self, console: Console, place: str) -> None:
        super().__init__(console)
        self._place, self._lines = place, ReadingLines(place, self.show)

    def __call__(self, seconds: float) -> None:
        """Show the time since the start."""
        if not self._console.is_terminal:
            self._lines(seconds)
        elif seconds >= SHOWN_SECONDS:
            self.show(reading_line(self._place, seconds))
