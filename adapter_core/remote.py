"""Files on servers: addresses, and the options by which libraries reach them."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

ATTEMPTS = 2
"""Times that libraries send a request that fails; their defaults, up to 10, take minutes."""

_TIMEOUT_SECONDS = 30


@dataclass(frozen=True)
class RemoteFile:
    """Address of a file, or of a directory, on a server.

    Buckets of S3 are addressed by path, ``http://endpoint/bucket/key``.
    """

    url: str
    """``http://host/path``, ``https://host/path``, ``s3://bucket/key`` or ``root://host//path``."""
    endpoint: str = ""
    """Address of an S3 server, e.g. ``http://127.0.0.1:9000``; empty for Amazon's."""
    anonymous: bool = True
    """True if requests to S3 have no signature; otherwise libraries look for credentials themselves."""
    region: str = "us-east-1"
    """Region of the S3 bucket."""

    @property
    def scheme(self) -> str:
        """Return the protocol; that of HTTPS is ``http``."""
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
    def folder_url(self) -> str:
        """Return the address of the containing folder, with a slash at its end."""
        return self.url.rpartition("/")[0] + "/"

    def arrow_file_system(self) -> Any:
        """Return pyarrow's file system of S3."""
        # The client otherwise asks the metadata service of Amazon's machines first.
        os.environ.setdefault("AWS_EC2_METADATA_DISABLED", "true")
        from pyarrow.fs import AwsStandardS3RetryStrategy, S3FileSystem

        scheme, _, host = self.endpoint.rpartition("://")
        server = {"endpoint_override": host, "scheme": scheme} if host else {}
        return S3FileSystem(
            anonymous=self.anonymous,
            region=self.region,
            retry_strategy=AwsStandardS3RetryStrategy(max_attempts=ATTEMPTS),
            request_timeout=_TIMEOUT_SECONDS,
            **server,
        )

    def object_store_options(self) -> dict[str, str]:
        """Return the options of S3 of the Rust library object_store, behind Polars and Lance.

        https://docs.rs/object_store/latest/object_store/aws/enum.AmazonS3ConfigKey.html
        """
        options = {"aws_region": self.region, "aws_virtual_hosted_style_request": "false"}
        if self.endpoint:
            plain = str(self.endpoint.startswith("http://")).lower()
            options |= {"aws_endpoint": self.endpoint, "aws_allow_http": plain}
        if self.anonymous:
            options["aws_skip_signature"] = "true"
        return options


@contextmanager
def fetched(file: RemoteFile) -> Iterator[Path]:
    """Download a file over HTTP into a temporary folder, for libraries that read whole local files."""
    from urllib.error import HTTPError
    from urllib.request import urlopen

    with TemporaryDirectory() as folder, contextlib.ExitStack() as opened:
        path = Path(folder, Path(file.key).name)
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
