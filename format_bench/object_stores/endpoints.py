"""The ends of an object store's trial: its proxy, and a client that saves and reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from format_bench.links.commands import CommandedProcess
from format_bench.object_stores.client import EXPECTED, PART, READ, Outcome
from format_bench.object_stores.proxy import Call, Fault

if TYPE_CHECKING:
    from adapter_core import RemoteFile


_EXPECTED_SECONDS = 600.0
"""Time for loading the data, and for saving and reading the local file."""


class FaultProxy(CommandedProcess):
    """The proxy of `format_bench.object_stores.proxy` before a server.

    Parameters
    ----------
    upstream_port : int
        Port of the server.
    upstream_host : str
        Its name or address.
    """

    def __init__(self, upstream_port: int, upstream_host: str = "127.0.0.1") -> None:
        super().__init__("format_bench.object_stores.proxy", str(upstream_port), upstream_host)
        self.port: int = self.answer()

    def set(self, fault: Fault) -> None:
        """Change the failures and the delay of all further requests."""
        self.ask(do="set", **asdict(fault))

    def take(self) -> list[Call]:
        """Return the records of all requests since the last call."""
        return [Call(**each) for each in self.ask(do="take")]

    def has_stalled(self) -> bool:
        """Return whether a request has been stopped in its middle."""
        return bool(self.ask(do="stalled"))


class StoreClient(CommandedProcess):
    """The client of `format_bench.object_stores.client`.

    Parameters
    ----------
    family, label : str
        The adapter.
    source : str
        The data: a data set and its size, e.g. ``core:20000``, or the absolute path of a file of
        the adapter.
    environment : mapping of str to str
        Variables with the credentials; further ones are those of `client_environment`.
    """

    def __init__(self, family: str, label: str, source: str, environment: Mapping[str, str]) -> None:
        module = "format_bench.object_stores.client"
        super().__init__(module, family, label, source, environment=environment)

    def run(self, step: str, file: RemoteFile, limit_seconds: float = 120.0) -> Outcome:
        """Do a step and return its outcome.

        Raises
        ------
        LinkError
            If the process ended, or has not answered within the limit.
        """
        return Outcome(**self.ask(limit_seconds, step=step, file=asdict(file)))

    def expected(self) -> dict[str, str]:
        """Return the digests of the whole and of a part, read from a local file."""
        return dict(zip((READ, PART), self.ask(_EXPECTED_SECONDS, step=EXPECTED), strict=True))

    def start(self, step: str, file: RemoteFile) -> None:
        """Start a step, whose outcome nobody waits for."""
        self.send(step=step, file=asdict(file))
