"""The environment of processes that talk to servers: no variable of it names another server.

Clients of object stores read endpoints, profiles and proxies from variables and from the files that
variables name, and some prefer these to the endpoint that they are given.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from adapter_core.credentials import Credentials

# Starts of the names of variables that may choose a server, an account or its files.
_PREFIXES = (
    *("AWS_", "S3_", "FSSPEC_", "BOTO_", "MINIO_"),
    *("AZURE_", "MSI_", "IDENTITY_"),
    *("GOOGLE_", "GCS_", "GCE_", "CLOUDSDK_", "CLOUD_STORAGE_", "STORAGE_EMULATOR_"),
    # Libraries of formats that read their configuration from variables.
    *("PYICEBERG_", "TILEDB_", "TENSORSTORE_"),
)

_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "ftp_proxy", "no_proxy")

LOOPBACK = "127.0.0.1"

LOOPBACK_HOSTS = "127.0.0.1,localhost,::1"
"""Servers that no proxy is asked for, as `no_proxy` names them."""

NO_REQUEST = "made no request to"
"""Start of the error of a step that reached another server than its own, or none."""

# Variables of a user's own server that its clients keep: the authorities that it is known by.
_TRUST = ("AWS_CA_BUNDLE",)


def client_environment(added: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a client: this process' without servers, and further variables.

    Variables of cloud providers and of proxies are left out, and the files of Amazon's profiles are
    empty. No client asks the metadata service of Amazon's machines.

    Parameters
    ----------
    added : mapping of str to str, optional
        Variables that the client gets, e.g. from `store_variables`.
    """
    kept = {name: value for name, value in os.environ.items() if not _may_redirect(name)}
    fixed = {
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        "NO_PROXY": LOOPBACK_HOSTS,
        "no_proxy": LOOPBACK_HOSTS,
    }
    return {**kept, **fixed, **(added or {})}


def store_variables(credentials: Credentials | None, *, is_remote: bool = False) -> dict[str, str]:
    """Return the variables that clients of an object store need besides `client_environment`.

    Parameters
    ----------
    credentials : Credentials or None
        Keys; None for requests without signatures.
    is_remote : bool
        Whether clients reach a user's own server at another machine: they take the proxies of this
        process, but for loopback, and the authorities that it trusts.
    """
    found: dict[str, str] = {}
    if credentials:
        found["AWS_ACCESS_KEY_ID"] = credentials.access_key
        found["AWS_SECRET_ACCESS_KEY"] = credentials.secret_key
    if credentials and credentials.session_token:
        found["AWS_SESSION_TOKEN"] = credentials.session_token
    if is_remote:
        kept = {name: value for name, value in os.environ.items() if name in _TRUST or _is_proxy(name)}
        excepted = kept.get("no_proxy") or kept.get("NO_PROXY") or ""
        hosts = f"{excepted},{LOOPBACK_HOSTS}" if excepted else LOOPBACK_HOSTS
        found |= kept | {"no_proxy": hosts, "NO_PROXY": hosts}
    return found


@contextmanager
def as_client(added: Mapping[str, str]) -> Iterator[None]:
    """Give this process the environment of a client meanwhile, for workers that inherit it."""
    before = dict(os.environ)
    environment = client_environment(added)
    try:
        _replace(environment)
        yield
    finally:
        _replace(before)


def _replace(environment: Mapping[str, str]) -> None:
    for name in set(os.environ) - set(environment):
        del os.environ[name]
    os.environ.update(environment)


def _may_redirect(name: str) -> bool:
    return name.upper().startswith(_PREFIXES) or _is_proxy(name)


def _is_proxy(name: str) -> bool:
    return name.lower() in _PROXIES
