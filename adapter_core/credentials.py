"""Credentials of object stores, from the environment or a profile, and their removal from messages."""

from __future__ import annotations

import os
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

_SHORTEST = 4
"""Characters of the shortest secret that is looked for; shorter ones are parts of words."""


@dataclass(frozen=True)
class Credentials:
    """Keys of S3; their text shows none of them."""

    access_key: str = field(repr=False)
    secret_key: str = field(repr=False)
    session_token: str = field(default="", repr=False)


def find_credentials() -> Credentials | None:
    """Return the credentials of the environment, else those of the profile; None without either.

    The profile is AWS_PROFILE, or ``default``, in AWS_SHARED_CREDENTIALS_FILE or ``~/.aws/credentials``:
    https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html
    """
    access_key, secret_key = (os.environ.get(each, "") for each in _VARIABLES[:2])
    if access_key and secret_key:
        return Credentials(access_key, secret_key, os.environ.get("AWS_SESSION_TOKEN", ""))
    path = os.environ.get("AWS_SHARED_CREDENTIALS_FILE") or "~/.aws/credentials"
    profiles = ConfigParser(interpolation=None)
    try:
        profiles.read(Path(path).expanduser(), encoding="utf-8")
        profile = profiles[os.environ.get("AWS_PROFILE") or "default"]
        return Credentials(
            profile["aws_access_key_id"],
            profile["aws_secret_access_key"],
            profile.get("aws_session_token", ""),
        )
    except (ConfigError, KeyError, OSError, UnicodeDecodeError):
        return None


def without_secrets(text: str) -> str:
    """Return a message in which the credentials of the usual places are hidden.

    Servers repeat the access key in an error, and some libraries print the signed request.
    """
    secrets = {os.environ.get(each, "") for each in _VARIABLES}
    found = find_credentials()
    if found:
        secrets |= {found.access_key, found.secret_key, found.session_token}
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, HIDDEN)
    return text
