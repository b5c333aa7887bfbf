"""XRootD server of a folder, if one is installed; its trace counts requests and bytes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from adapter_core.errors import LinkError, UnavailableError
from format_bench.network.processes import Started

# Not 1094, the usual one, at which a server of the machine may listen.
PORT = 31094

# Far more than a program needs that only listens. Chosen, not measured.
_START_SECONDS = 10.0

# Root must not serve: https://xrootd.org/doc/man/xrootd.8.html, -R.
_USER = "nobody"

_READY = "initialization completed"
_REQUEST = re.compile(r"Xrootd_Protocol: \w+ req=(\w+)")
_DATA = re.compile(r"Xrootd_Response: \w+ (?:sending|sendfile) (\d+) data bytes")
_LOGIN = re.compile(r"Xrootd_Protocol: \w+ req=login")


class XRootDServer(Started):
    """A server of ``root://host:port//path`` for a folder, which ends with the block.

    Parameters
    ----------
    folder : Path
        The folder; other users must be able to read it if this process is root's.
    port : int
        Port to listen at, on all interfaces: XRootD cannot be bound to one.
    prefix : sequence of str
        Command that starts it in a namespace of its own.

    Raises
    ------
    UnavailableError
        If no server is installed.
    LinkError
        If it does not start.
    """

    def __init__(self, folder: Path, port: int, prefix: Sequence[str]) -> None:
        program = shutil.which("xrootd")
        if program is None:
            reason = "there is no program xrootd"
            raise UnavailableError("the XRootD server", reason, "apt install xrootd-server")
        self._command, self._root, self._port = [*prefix, program], folder.resolve(), port
        super().__init__()

    def _start(self, started: ExitStack) -> None:
        own = Path(started.enter_context(TemporaryDirectory()))
        self._log = own / "log"
        settings = own / "settings"
        settings.write_text(
            f"xrd.port {self._port}\noss.localroot {self._root}\nall.export / r/o\n"
            f"all.adminpath {own}\nall.pidpath {own}\nxrootd.trace request response\n",
            encoding="utf-8",
        )
        user = ["-R", _USER] if os.geteuid() == 0 else []
        if user:
            shutil.chown(own, _USER)
        self._process = subprocess.Popen(  # noqa: S603 (an installed server)
            [*self._command, *user, "-c", str(settings), "-l", str(self._log)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        started.callback(self._process.wait)
        # Nothing is kept in its folder, so it needs no time to end.
        started.callback(self._process.kill)
        self._wait_until_ready()

    def counts(self) -> tuple[int, int, int]:
        """Return the numbers of requests, connections, and bytes of data that were sent."""
        text = self._text()
        sent = sum(map(int, _DATA.findall(text)))
        return len(_REQUEST.findall(text)), len(_LOGIN.findall(text)), sent

    def _text(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace") if self._log.exists() else ""

    def _wait_until_ready(self) -> None:
        end = time.monotonic() + _START_SECONDS
        while _READY not in self._text():
            if self._process.poll() is not None or time.monotonic() > end:
                raise LinkError("no XRootD server: xrootd did not start")
            time.sleep(0.02)
