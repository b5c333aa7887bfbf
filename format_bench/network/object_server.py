"""Object server of the measurements: versitygw on a folder, built with Go once into the user's cache.

https://github.com/versity/versitygw (Apache License 2.0) serves S3 from files, with signatures,
multipart uploads and conditional writes.
"""

from __future__ import annotations

import os
import secrets
import shlex
import shutil
import socket
import subprocess
import time
from contextlib import ExitStack, suppress
from pathlib import Path

from adapter_core import Availability, RemoteFile, UnavailableError
from adapter_core.credentials import Credentials
from adapter_core.errors import LinkError
from adapter_core.files import user_cache, write_atomically
from format_bench.network.bucket import Bucket
from format_bench.network.environment import LOOPBACK, store_variables
from format_bench.network.folder_server import FolderServer
from format_bench.network.leftovers import new_folder
from format_bench.network.processes import Started, end

VERSION = "1.8.0"
MODULE = "github.com/versity/versitygw/cmd/versitygw"
BUCKET = "benchmark"

REAL, STAND_IN = "versitygw", "stand-in"

_HINT = "format-bench build object-server"
# Go compiles all that the server imports, too: many minutes on a slow machine.
_BUILD_SECONDS = 3600
# Far more than a program needs that only listens, for a busy machine. Chosen, not measured.
_START_SECONDS = 30.0


def program() -> Path:
    """Return the place of the built server, which may not exist."""
    return user_cache() / f"versitygw-{VERSION}" / "versitygw"


def availability() -> Availability:
    """Return whether the server has been built."""
    if program().exists():
        return Availability(available=True)
    reason = f"the object server versitygw {VERSION} is not built"
    return Availability(available=False, reason=reason, install_hint=_HINT)


def toolchain() -> Availability:
    """Return whether the server can be built here."""
    if shutil.which("go"):
        return Availability(available=True)
    reason = "Go is not installed, which builds the object server"
    return Availability(available=False, reason=reason, install_hint="install it from https://go.dev")


def build() -> Path:
    """Build the server unless it is there, and return its place; this takes some minutes.

    Raises
    ------
    UnavailableError
        If Go is missing, or the build fails.
    """
    target = program()
    if target.exists():
        return target
    lacking = toolchain()
    if not lacking:
        raise UnavailableError("the object server", lacking.reason, lacking.install_hint)
    target.parent.mkdir(parents=True, exist_ok=True)
    with write_atomically(target) as temporary:
        folder = temporary.with_suffix(".build")
        try:
            done = subprocess.run(  # noqa: S603 (a fixed command)
                ["go", "install", f"{MODULE}@v{VERSION}"],  # noqa: S607 (Go of PATH)
                env={**os.environ, "GOBIN": str(folder)},
                capture_output=True,
                text=True,
                timeout=_BUILD_SECONDS,
                check=False,
            )
            if done.returncode:
                lines = done.stderr.strip().splitlines() or ["no reason given"]
                raise UnavailableError("the object server", f"Go failed: {lines[-1]}", _HINT)
            shutil.move(folder / "versitygw", temporary)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return target


class ObjectServer(Started):
    """An S3 server of a folder on loopback, with a bucket `BUCKET`, which ends with the block.

    Parameters
    ----------
    folder : Path
        Where the objects are.
    kind : str
        `REAL`, or `STAND_IN` for a server without signatures, which is for tests.
    disk_bytes : int
        Size of a disk of its own for the real server, in memory; 0 for the disk of the folder.
    keep_alive : bool
        False ends each connection after one answer, for clients without the proxy: the real server
        sometimes takes the end of a chunked body for another request.

    Raises
    ------
    UnavailableError
        If the real server has not been built.
    LinkError
        If the server does not start, e.g. as mounting a disk is not permitted.
    """

    def __init__(
        self, folder: Path, kind: str = REAL, disk_bytes: int = 0, *, keep_alive: bool = True
    ) -> None:
        # Made up for each server, in its environment and its clients' alone.
        self.credentials = Credentials(f"key{secrets.token_hex(8)}", secrets.token_hex(20))
        self._place, self._kind, self._disk_bytes, self._keeps = folder, kind, disk_bytes, keep_alive
        super().__init__()

    def _start(self, started: ExitStack) -> None:
        if self._kind == STAND_IN:
            self.port = started.enter_context(FolderServer(self._place, writable=True)).port
        else:
            self.port = free_port()
            self._start_real(started, self._place)
        self.bucket.create()
        self.folder = new_folder(self.address(self.port), self.credentials).key

    @property
    def bucket(self) -> Bucket:
        """The bucket, reached without a proxy."""
        return Bucket(self.address(self.port), self.credentials)

    @property
    def environment(self) -> dict[str, str]:
        """The variables with the credentials, which clients need besides `client_environment`."""
        return store_variables(self.credentials)

    @staticmethod
    def address(port: int, key: str = "", attempts: int = 2) -> RemoteFile:
        """Return the address of an object at a port of this machine, e.g. a proxy's."""
        endpoint = f"http://{LOOPBACK}:{port}"
        return RemoteFile(f"s3://{BUCKET}/{key}", endpoint=endpoint, anonymous=False, attempts=attempts)

    def _start_real(self, started: ExitStack, folder: Path) -> None:
        found = availability()
        if not found:
            raise UnavailableError("the object server", found.reason, found.install_hint)
        for name in ("objects", "metadata"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        log = folder / "server.log"
        with log.open("ab") as opened:
            process = subprocess.Popen(  # noqa: S603 (our own program)
                [
                    *(_on_disk_of(self._disk_bytes, folder) if self._disk_bytes else []),
                    *(str(program()), "--port", f"{LOOPBACK}:{self.port}", "--quiet"),
                    *(["--keep-alive"] if self._keeps else []),
                    # Metadata in files of their own, as not all file systems have extended attributes.
                    *("posix", "--sidecar", str(folder / "metadata"), str(folder / "objects")),
                ],
                env={
                    **os.environ,
                    "ROOT_ACCESS_KEY_ID": self.credentials.access_key,
                    "ROOT_SECRET_ACCESS_KEY": self.credentials.secret_key,
                },
                stdin=subprocess.DEVNULL,
                stdout=opened,
                stderr=opened,
            )
        started.callback(end, process)
        until = time.monotonic() + _START_SECONDS
        while time.monotonic() < until:
            if process.poll() is not None:
                lines = log.read_text(errors="replace").strip().splitlines() or ["no reason given"]
                raise LinkError(f"the object server did not start: {lines[-1]}")
            with suppress(OSError), socket.create_connection((LOOPBACK, self.port), 1):
                return
            time.sleep(0.02)
        raise LinkError(f"the object server does not answer after {_START_SECONDS:.0f} seconds")


def _on_disk_of(size_bytes: int, folder: Path) -> list[str]:
    """Return the start of a command that mounts a disk in a namespace, and runs another on it."""
    places = shlex.quote(str(folder))
    script = (
        f"mount -t tmpfs -o size={size_bytes} none {places} && "
        f'mkdir {places}/objects {places}/metadata && exec "$@"'
    )
    return ["unshare", "--mount", "--map-root-user", "sh", "-c", script, "sh"]


def free_port() -> int:
    """Return a port of loopback at which nothing listens."""
    with socket.socket() as found:
        found.bind((LOOPBACK, 0))
        port: int = found.getsockname()[1]
        return port
