"""Files on servers: addresses, and the options that libraries reach them with."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

from adapter_core.credentials import Credentials, find_credentials

OBJECT_STORES = ("s3", "gs", "az")
"""Protocols of object stores: Amazon's S3 and its like, Google Cloud Storage, Azure Blob Storage."""

ATTEMPTS = 2
"""Times that libraries send a request that fails; their defaults, up to 10, take minutes."""

# With `ATTEMPTS`, a server that is gone costs a minute.
_TIMEOUT_SECONDS = 30

_AZURE_VARIABLES = (
    "AZURE_STORAGE_ACCOUNT_NAME",
    "AZURE_STORAGE_ACCOUNT_KEY",
    "AZURE_STORAGE_SAS_TOKEN",
)


@dataclass(frozen=True)
class RemoteFile:
    """Address of a file, or of a directory, on a server.

    Buckets of S3 are addressed by path, ``http://endpoint/bucket/key``; no variable and no profile names
    another server. Credentials of S3 come from `find_credentials`; without any, requests have no
    signature. Credentials of ``az://`` are AZURE_STORAGE_ACCOUNT_NAME with AZURE_STORAGE_ACCOUNT_KEY, or
    with AZURE_STORAGE_SAS_TOKEN; libraries find the credentials of ``gs://`` themselves. They are never
    part of an address.
    """

    url: str
    """``http://host/path``, ``s3://bucket/key``, ``gs://``, ``az://`` or ``root://host//path``."""
    endpoint: str = ""
    """Address of a server, e.g. ``http://127.0.0.1:9000``, for Azure with the account at its end, e.g.
    ``http://127.0.0.1:10000/account``; empty for Amazon's, Google's or Microsoft's own."""
    anonymous: bool = True
    """True if requests to an object store have no signature."""
    region: str = "us-east-1"
    """Region of the S3 bucket."""
    attempts: int = ATTEMPTS
    """Times that libraries send a request that fails, where they can be limited."""

    def __truediv__(self, name: str) -> RemoteFile:
        """Return the address of a file in this folder, as of a `Path`."""
        return replace(self, url=f"{self.url}/{name}")

    @property
    def scheme(self) -> str:
        """Return the protocol; ``http`` for HTTPS too."""
        return urlsplit(self.url).scheme.replace("https", "http")

    @property
    def bucket(self) -> str:
        """Return the bucket of an address of S3."""
        return urlsplit(self.url).netloc

    @property
    def key(self) -> str:
        """Return the path without the first slash; the key of an address of S3."""
        return urlsplit(self.url).path.removeprefix("/")

    @property
    def arrow_path(self) -> str:
        """Return the path in `arrow_file_system`."""
        return f"{self.bucket}/{self.key}"

    @property
    def origin(self) -> str:
        """Return the address of the S3 server, also of Amazon's own, which clients are given always."""
        if self.endpoint:
            return self.endpoint.rstrip("/")
        suffix = ".cn" if self.region.startswith("cn-") else ""
        return f"https://s3.{self.region}.amazonaws.com{suffix}"

    def credentials(self) -> Credentials | None:
        """Return the credentials of S3 that requests are signed with; None for no signature."""
        return None if self.anonymous else find_credentials()

    def arrow_file_system(self) -> Any:
        """Return pyarrow's file system of the object store."""
        from pyarrow import fs

        if self.scheme == "gs":
            return fs.GcsFileSystem(anonymous=self.anonymous, **self._server())
        if self.scheme == "az":
            return fs.AzureFileSystem(**self._azure_arguments())
        # The client otherwise asks the metadata service of Amazon's machines first.
        os.environ.setdefault("AWS_EC2_METADATA_DISABLED", "true")
        found = self.credentials()
        keys: dict[str, Any] = {"anonymous": True}
        if found:
            keys = {"access_key": found.access_key, "secret_key": found.secret_key}
            keys |= {"session_token": found.session_token} if found.session_token else {}
        return fs.S3FileSystem(
            **keys,
            region=self.region,
            retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=self.attempts),
            request_timeout=_TIMEOUT_SECONDS,
            **self._server(),
        )

    def _azure_arguments(self) -> dict[str, Any]:
        """Return the arguments of pyarrow's file system of Azure."""
        account, key, token = map(os.environ.get, _AZURE_VARIABLES)
        found: dict[str, Any] = {"account_name": account or ""}
        found |= {"account_key": key} if key else {}
        found |= {"sas_token": token} if token and not key else {}
        if self.endpoint:
            # Without the account at its end, which pyarrow adds.
            place = urlsplit(self.endpoint)
            for kind in ("blob", "dfs"):
                found[f"{kind}_storage_authority"] = place.netloc
                found[f"{kind}_storage_scheme"] = place.scheme
        return found

    def _server(self) -> dict[str, Any]:
        endpoint = self.origin if self.scheme == "s3" else self.endpoint
        scheme, _, host = endpoint.rpartition("://")
        return {"endpoint_override": host, "scheme": scheme} if host else {}

    @contextmanager
    def arrow_stream(self) -> Iterator[Any]:
        """Provide pyarrow's stream to the object, for libraries that write to Python's file objects.

        After an error of the writer the incomplete object is removed, since closing the stream makes an
        object of the written part. pyarrow may leave an empty object that marks its folder.
        """
        system = self.arrow_file_system()
        stream = system.open_output_stream(self.arrow_path)
        try:
            yield stream
        except BaseException:
            with contextlib.suppress(Exception):
                stream.close()
                system.delete_file(self.arrow_path)
            raise
        stream.close()

    def tiledb_settings(self) -> dict[str, str]:
        """Return TileDB's parameters of S3: https://docs.tiledb.com/main/how-to/configuration."""
        scheme, _, host = self.origin.rpartition("://")
        found = self.credentials()
        settings = {
            "vfs.s3.region": self.region,
            "vfs.s3.no_sign_request": str(found is None).lower(),
            "vfs.s3.connect_max_tries": str(self.attempts),
            "vfs.s3.endpoint_override": host,
            "vfs.s3.scheme": scheme,
            "vfs.s3.use_virtual_addressing": "false",
        }
        if found:
            settings["vfs.s3.aws_access_key_id"] = found.access_key
            settings["vfs.s3.aws_secret_access_key"] = found.secret_key
            if found.session_token:
                settings["vfs.s3.aws_session_token"] = found.session_token
        return settings

    def object_store_options(self) -> dict[str, str]:
        """Return the options of the Rust library object_store, behind Polars, Lance and Delta.

        The library finds the credentials of ``gs://`` in the environment.
        https://docs.rs/object_store/latest/object_store/aws/enum.AmazonS3ConfigKey.html
        https://docs.rs/object_store/latest/object_store/azure/enum.AzureConfigKey.html
        """
        plain = str(self.endpoint.startswith("http://")).lower()
        if self.scheme == "az":
            names = "azure_storage_account_name", "azure_storage_account_key", "azure_storage_sas_key"
            values = map(os.environ.get, _AZURE_VARIABLES)
            options = {name: value for name, value in zip(names, values, strict=True) if value}
            # Else a variable makes it another address, that of an emulator.
            options["azure_storage_use_emulator"] = "false"
            if self.endpoint:
                options |= {"azure_endpoint": self.endpoint, "azure_allow_http": plain}
            return options
        if self.scheme != "s3":
            return {}
        options = {
            "aws_region": self.region,
            "aws_virtual_hosted_style_request": "false",
            # Both, since the variable of the second is taken before the first.
            "aws_endpoint": self.origin,
            "aws_endpoint_url_s3": self.origin,
            "aws_allow_http": plain,
        }
        found = self.credentials()
        if not found:
            options["aws_skip_signature"] = "true"
        else:
            options["aws_access_key_id"] = found.access_key
            options["aws_secret_access_key"] = found.secret_key
            if found.session_token:
                options["aws_session_token"] = found.session_token
        return options

    def polars_options(self) -> dict[str, Any]:
        """Return the arguments of Polars' functions for an object store."""
        options = self.object_store_options() | {"max_retries": self.attempts - 1}
        return {"storage_options": options, "credential_provider": None}

    def lance_options(self) -> dict[str, str]:
        """Return Lance's options of an object store: https://lance.org/guide/object_store/."""
        retries = str(self.attempts - 1)
        return self.object_store_options() | {
            "client_max_retries": retries,
            "download_retry_count": retries,
        }

    def obstore_store(self) -> Any:
        """Return obstore's store of the folder at this address."""
        import obstore

        clients: Any = {"allow_http": True, "timeout": f"{_TIMEOUT_SECONDS}s"}
        options: Any = self.object_store_options()
        # Unlike the library behind it, obstore takes this one among the options of the client.
        for name in ("aws_allow_http", "azure_allow_http"):
            options.pop(name, None)
        retries: Any = {"max_retries": self.attempts - 1}
        if self.scheme == "s3":
            # `from_url` of obstore 0.12.1 refuses the key of the endpoint that variables cannot replace.
            return obstore.store.S3Store(
                self.bucket,
                prefix=self.key or None,
                config=options,
                client_options=clients,
                retry_config=retries,
            )
        from_url: Any = obstore.store.from_url
        return from_url(self.url, config=options or None, client_options=clients, retry_config=retries)


@contextmanager
def fetched(file: RemoteFile) -> Iterator[Path]:
    """Download a file into a temporary folder, for libraries that read whole local files."""
    from urllib.error import HTTPError
    from urllib.request import urlopen

    with TemporaryDirectory() as folder, contextlib.ExitStack() as opened:
        path = Path(folder, Path(file.key).name)
        if file.scheme in OBJECT_STORES:
            source = opened.enter_context(file.arrow_file_system().open_input_stream(file.arrow_path))
            with path.open("wb") as local:
                shutil.copyfileobj(source, local, 1 << 20)
            yield path
            return
        try:
            response = opened.enter_context(urlopen(file.url, timeout=_TIMEOUT_SECONDS))  # noqa: S310 (its scheme is http)
        except HTTPError as error:
            error.close()
            raise
        with path.open("wb") as local:
            shutil.copyfileobj(response, local, 1 << 20)
        if response.length:  # bytes that were announced and did not arrive
            raise ConnectionError(f"the connection ended {response.length:,} bytes too early")
        yield path
