"""Git repositories over HTTP at loopback, behind a password, by git's own CGI program."""

from __future__ import annotations

import base64
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote


class GitServer(ThreadingHTTPServer):
    """A server of the bare repositories in a folder.

    Parameters
    ----------
    folder : Path
        The folder.
    user : str
        Name and password, percent-encoded as in an address.
    """

    daemon_threads = True

    def __init__(self, folder: Path, user: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder = folder
        self.expected = "Basic " + base64.b64encode(unquote(user).encode()).decode()
        self.address = f"http://{user}@127.0.0.1:{self.server_port}"
        self.takes_pushes = True
        self.commands: set[str] = set()
        """Commands of this machine's processes while a client waits for an answer."""


class _Handler(BaseHTTPRequestHandler):
    server: GitServer

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def log_message(self, *_: object) -> None:
        """Log nothing."""

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        for each in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                self.server.commands.add(each.read_text(errors="replace").replace("\0", " "))
        if self.headers.get("Authorization") != self.server.expected:
            self._refuse(HTTPStatus.UNAUTHORIZED)
        elif "receive-pack" in self.path and not self.server.takes_pushes:
            self._refuse(HTTPStatus.FORBIDDEN)
        else:
            self._run_git(body)

    def _refuse(self, status: HTTPStatus) -> None:
        self.send_response(status)
        self.send_header("WWW-Authenticate", 'Basic realm="git"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _run_git(self, body: bytes) -> None:
        path, _, query = self.path.partition("?")
        variables = {
            "GIT_PROJECT_ROOT": str(self.server.folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "REMOTE_USER": "someone",
            "PATH": os.environ["PATH"],
        }
        done = subprocess.run(
            ["git", "http-backend"], input=body, env=variables, capture_output=True, check=False
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        fields = [line.split(": ", 1) for line in head.decode().split("\r\n")]
        status = dict(fields).get("Status", "200 OK")
        self.send_response_only(int(status.split()[0]))
        for name, value in fields:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def serving(folder: Path, user: str) -> Iterator[GitServer]:
    """Serve the repositories of a folder until the block ends."""
    with GitServer(folder, user) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
