"""Credentials of object stores, from the environment or a profile; no credentials in messages."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from configparser import ConfigParser
from configparser import Error as ConfigError
from dataclasses import dataclass, field
from pathlib import Path

HIDDEN = "***"
"""Text in place of a secret."""

_VARIABLES = (
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AZURE_STORAGE_ACCOUNT_KEY",
    "AZURE_STORAGE_SAS_TOKEN",
    "AZURE_STORAGE_CONNECTION_STRING",
)

_KEYS = "access_key_id", "secret_access_key"

# Name of the profile where none is chosen.
_DEFAULT = "default"

_USER_OF_ADDRESS = re.compile(r"://[^/\s]+@")

# Characters of the shortest secret that is looked for; shorter ones are parts of words.
_SHORTEST = 4

# Characters of Amazon's shortest ID of a key, and of the shortest secret that servers of S3 take. What
# is shorter may be a word of an ordinary address, as the `test` of test servers.
_LEAST_ID, _LEAST_SECRET = 16, 8


@dataclass(frozen=True)
class Credentials:
    """Keys of S3; their text shows none of them."""

    access_key: str = field(repr=False)
    secret_key: str = field(repr=False)
    session_token: str = field(default="", repr=False)


def find_credentials() -> Credentials | None:
    """Return the credentials of the environment, else of the profile; None without either.

    The profile is AWS_PROFILE, or ``default``, in AWS_SHARED_CREDENTIALS_FILE or ``~/.aws/credentials``,
    else in AWS_CONFIG_FILE or ``~/.aws/config``; it has the keys themselves. Roles, SSO and programs are
    asked by Amazon's own client, ``aws configure export-credentials``.
    https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html
    """
    access_key, secret_key = (os.environ.get(each, "") for each in _VARIABLES[:2])
    if access_key and secret_key:
        return Credentials(access_key, secret_key, os.environ.get("AWS_SESSION_TOKEN", ""))
    for profile in _profiles():
        access_key, secret_key = (profile.get(f"aws_{each}", "") for each in _KEYS)
        if access_key and secret_key:
            return Credentials(access_key, secret_key, profile.get("aws_session_token", ""))
    return None


def profile_endpoint() -> str:
    """Return the name of the profile if it names a server of its own; empty if not."""
    if any("endpoint_url" in profile or "services" in profile for profile in _profiles()):
        return os.environ.get("AWS_PROFILE") or _DEFAULT
    return ""


def _profiles() -> Iterator[Mapping[str, str]]:
    """Yield the sections of the profile, first of the file of credentials."""
    name = os.environ.get("AWS_PROFILE") or _DEFAULT
    places = (
        ("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials", (name,)),
        # There all others have a word before their names.
        ("AWS_CONFIG_FILE", "~/.aws/config", (f"profile {name}", *([name] if name == _DEFAULT else []))),
    )
    for variable, usual, sections in places:
        path = Path(os.environ.get(variable) or usual)
        # Files of other programs may have what this parser does not know.
        parser = ConfigParser(interpolation=None, default_section="", strict=False, allow_no_value=True)
        try:
            parser.read(path.expanduser(), encoding="utf-8")
        except (ConfigError, OSError, RuntimeError, UnicodeDecodeError):
            continue
        for section in sections:
            if parser.has_section(section):
                yield {key: value or "" for key, value in parser.items(section)}


def without_secrets(text: str) -> str:
    """Return a message without the credentials of the usual places and of addresses.

    Servers repeat the access key in an error, and some libraries print the signed request.
    """
    ids, secrets = _keys()
    for secret in sorted(ids | secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, HIDDEN)
    return _USER_OF_ADDRESS.sub(f"://{HIDDEN}@", text)


def has_secret(address: str) -> bool:
    """Return whether an address has credentials: a user, or a key that is no word.

    A key that is its own ID, as LocalStack's and MinIO's defaults are, is none.
    """
    ids, secrets = _keys()
    found = {each for each in ids if len(each) >= _LEAST_ID}
    found |= {each for each in secrets - ids if len(each) >= _LEAST_SECRET}
    return any(each in address for each in found) or bool(_USER_OF_ADDRESS.search(address))


def _keys() -> tuple[set[str], set[str]]:
    """Return the IDs of keys in the usual places, and what is secret there; some may be empty."""
    name, *others = (os.environ.get(each, "") for each in _VARIABLES)
    ids, secrets = {name}, {*others}
    if found := find_credentials():
        ids.add(found.access_key)
        secrets |= {found.secret_key, found.session_token}
    return ids, secrets
