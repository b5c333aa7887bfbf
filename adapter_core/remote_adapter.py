"""Adapters whose libraries read or write files on servers, of tables and of arrays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from adapter_core.availability import install_hint, probe
from adapter_core.codec_choice import CodecChoice
from adapter_core.errors import FormatBenchError, RemoteError, UnavailableError, UnsupportedError
from adapter_core.remote import RemoteFile

IN_PLACE = "its library goes back in the file while it writes"
NO_EXTENSION = "the package of DuckDB lacks the extension for servers"
AS_A_WHOLE = "its library puts the file together in memory or in a local folder"
AS_BYTES = "its library makes bytes, and leaves files to Python"


class RemoteFacts(CodecChoice):
    """Facts on the access of an adapter to servers, none by default."""

    remote_schemes: ClassVar[tuple[str, ...]] = ()
    """Protocols of `read_remote`, the fastest first: ``s3``, ``http`` (and https), ``root``;
    array stores have them for `save_remote` as well."""
    save_schemes: ClassVar[tuple[str, ...]] = ()
    """Protocols of a table format's `save_remote`, which `read_remote` reads by."""
    remote_requires: ClassVar[tuple[str, ...]] = ()
    """Requirement strings of further distributions that access to servers needs."""
    local_only: ClassVar[str] = "it writes local files only"
    """Reason why an adapter has no writer to object stores, a clause."""


class Remote(RemoteFacts):
    """An adapter that reaches servers: the check of an address, and errors without credentials."""

    def _check_server(self, file: RemoteFile, schemes: tuple[str, ...], verb: str) -> None:
        """Raise if the library lacks a protocol, or a package that it needs for servers."""
        if file.scheme not in schemes:
            offered = " and ".join(f"{each}://" for each in schemes)
            raise UnsupportedError(f"{self.label} {verb} {offered}, not {file.scheme}://")
        found = probe(self.remote_requires, self.modules, install_hint("links"))
        if not found:
            raise UnavailableError(f"{self.label} on servers", found.reason, found.install_hint)

    @contextmanager
    def _at_server(self, file: RemoteFile, kind: type[RemoteError]) -> Iterator[None]:
        try:
            yield
        except FormatBenchError:
            raise
        except Exception as error:
            # Not as its cause, whose message may contain credentials.
            raise kind(self.label, file.url, error) from None
