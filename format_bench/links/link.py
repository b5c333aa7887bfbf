"""Link between a client and a server: a network of namespaces, or a delaying server."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from adapter_core import RemoteFile
from adapter_core.errors import LinkError
from format_bench.links.endpoints import LOOPBACK, RangeServer, ReadingClient
from format_bench.links.environment import NO_REQUEST
from format_bench.links.network import SERVER_HOST, LinkedNetwork
from format_bench.links.server import Conditions
from format_bench.links.xrootd import PORT, XRootDServer

if TYPE_CHECKING:
    from format_bench.links.client import Answer

BUCKET = "bucket"
"""Folder of the served files, and their bucket."""

NETWORK, DELAYS = "network", "delays"
"""Kinds of link: packets delayed between two namespaces, or responses delayed by the server."""


@dataclass(frozen=True)
class Question:
    """A table, or some of its columns, in a format and by a protocol."""

    format: str
    """Label of the adapter."""
    scheme: str
    """One of the adapter's protocols."""
    columns: list[str] | None
    """None for all."""


@dataclass(frozen=True)
class Reading:
    """A read of a table over a link."""

    answer: Answer
    requests: int
    """Requests that the server received."""
    connections: int
    sent_bytes: int
    """Bytes of all bodies."""


class Link:
    """A server of a folder, clients, and what is between them; ends with the block.

    Parameters
    ----------
    folder : Path
        Folder in which `BUCKET` is made, for the files to serve.
    delays_only : bool
        True to use the delaying server where namespaces are permitted, too.
    """

    def __init__(self, folder: Path, *, delays_only: bool = False) -> None:
        self.bucket = folder / BUCKET
        self.bucket.mkdir(exist_ok=True)
        self.reason = "the delaying server was asked for" if delays_only else ""
        """Reason for the delaying server; empty for a network."""
        self._xrootd_port = PORT
        self._ending = contextlib.ExitStack()
        self._network: LinkedNetwork | None = None
        if not delays_only:
            try:
                self._network = self._ending.enter_context(LinkedNetwork())
            except LinkError as error:
                self.reason = str(error)
        host = SERVER_HOST if self._network else LOOPBACK
        prefix = self._network.server_prefix if self._network else ()
        try:
            self._server = self._ending.enter_context(RangeServer(folder, host, prefix))
            self.set(0.0)
        except BaseException:
            self._ending.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.close()

    @property
    def kind(self) -> str:
        """Return `NETWORK` or `DELAYS`."""
        return NETWORK if self._network else DELAYS

    def client(self) -> ReadingClient:
        """Start a client at the other end."""
        return ReadingClient(self._network.client_prefix if self._network else ())

    def set(self, round_trip_seconds: float, bytes_per_second: float = 0.0) -> None:
        """Change round-trip time and bandwidth; a bandwidth of 0 is not limited."""
        if self._network:
            self._network.set(round_trip_seconds, bytes_per_second)
        else:
            self._server.set(Conditions(round_trip_seconds, bytes_per_second))

    def read(
        self, client: ReadingClient, name: str, question: Question, *, limit_seconds: float = 90.0
    ) -> Reading:
        """Read a file of the bucket at a port that neither client nor library has used before.

        Raises
        ------
        LinkError
            If the protocol is XRootD and there is no server of it, or no network to delay it; or if the
            client does not answer within the limit.
        """
        if question.scheme == "root":
            return self._read_by_xrootd(client, name, question, limit_seconds)
        port = self._server.open_port()
        self._server.take()
        file: RemoteFile = self._server.file(port, BUCKET, name, question.scheme)
        answer = client.read(question.format, file, question.columns, limit_seconds)
        exchanges = [each for each in self._server.take() if each.port == port]
        if not exchanges and not answer.error:
            answer = replace(answer, error=f"{NO_REQUEST} {file.endpoint or file.url}")
        return Reading(
            answer,
            len(exchanges),
            len({each.connection for each in exchanges}),
            sum(each.sent_bytes for each in exchanges),
        )

    def _read_by_xrootd(
        self, client: ReadingClient, name: str, question: Question, limit_seconds: float
    ) -> Reading:
        if self._network is None:
            raise LinkError("XRootD needs a network, since its server cannot be delayed")
        self._xrootd_port += 1
        prefix = self._network.server_prefix
        with XRootDServer(self.bucket.parent, self._xrootd_port, prefix) as server:
            file = RemoteFile(f"root://{SERVER_HOST}:{self._xrootd_port}//{BUCKET}/{name}")
            answer = client.read(question.format, file, question.columns, limit_seconds)
            return Reading(answer, *server.counts())
