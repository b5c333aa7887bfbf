"""The two ends of a link: a server of a folder, and a client that reads from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from adapter_core import RemoteFile
from adapter_core.availability import import_failure
from adapter_core.errors import LinkError
from format_bench.links.client import Answer
from format_bench.links.commands import CommandedProcess
from format_bench.links.server import Conditions, Exchange

LOOPBACK = "127.0.0.1"


class RangeServer(CommandedProcess):
    """The server of `format_bench.links.server` for a folder whose subfolders are the buckets.

    Parameters
    ----------
    folder : Path
        The folder.
    host : str
        Address to listen at.
    prefix : sequence of str
        Command that starts it in a namespace; empty for none.

    Raises
    ------
    LinkError
        If the library of the server is missing.
    """

    def __init__(self, folder: Path, host: str = LOOPBACK, prefix: Sequence[str] = ()) -> None:
        reason = import_failure("aiohttp")
        if reason:
            raise LinkError(f'no range server: {reason}; try: pip install ".[links]"')
        super().__init__("format_bench.links.server", str(folder), host, prefix=prefix)
        self._host = host

    def open_port(self) -> int:
        """Listen at another port and return it; a library has no connection or cache for it yet."""
        port: int = self.ask(do="open")
        return port

    def set(self, conditions: Conditions) -> None:
        """Change the delays and failures of all further responses."""
        self.ask(do="set", **asdict(conditions))

    def take(self) -> list[Exchange]:
        """Return the records of all requests since the last call."""
        return [
            Exchange(**{**each, "ranges": [*map(tuple, each["ranges"])]}) for each in self.ask(do="take")
        ]

    def file(self, port: int, bucket: str, key: str, scheme: str = "http") -> RemoteFile:
        """Return the address of a file by a protocol, ``http`` or ``s3``."""
        origin = f"http://{self._host}:{port}"
        if scheme == "s3":
            return RemoteFile(f"s3://{bucket}/{key}", endpoint=origin)
        return RemoteFile(f"{origin}/{bucket}/{key}")


class ReadingClient(CommandedProcess):
    """The client of `format_bench.links.client`.

    Parameters
    ----------
    prefix : sequence of str
        Command that starts it in a namespace; empty for none.
    """

    def __init__(self, prefix: Sequence[str] = ()) -> None:
        super().__init__("format_bench.links.client", prefix=prefix)

    def read(
        self, label: str, file: RemoteFile, columns: list[str] | None, limit_seconds: float = 120.0
    ) -> Answer:
        """Read a table, or some of its columns, by the format of that label."""
        found = self.ask(limit_seconds, format=label, file=asdict(file), columns=columns)
        return Answer(**found)
