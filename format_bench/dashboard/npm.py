"""Files of packages in the npm registry, through npm itself: it knows mirrors, proxies and a cache."""

from __future__ import annotations

import json
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from adapter_core.errors import FormatBenchError, Unavailable

_LIMIT_SECONDS = 300
_ROOT = "package"
"""The folder that holds everything in a package's archive."""


class NotFetched(FormatBenchError):
    """What npm could not fetch, or what is not in a package."""


class File(NamedTuple):
    """One file of one version of a package."""

    package: str
    version: str
    path: str


def fetch(files: Sequence[File]) -> dict[File, bytes]:
    """Return the content of files.

    npm compares each archive with the digest that the registry gives of it. What it has fetched before
    it takes from its cache, without asking the network.

    Raises
    ------
    Unavailable
        If npm is not installed.
    NotFetched
        If the registry cannot be reached, gives something else than it promised, or lacks a file.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise Unavailable("npm", "it is not installed", "apt-get install npm")
    packages = list(dict.fromkeys(f"{each.package}@{each.version}" for each in files))
    with tempfile.TemporaryDirectory() as folder:
        archives = dict(zip(packages, _pack(npm, packages, folder), strict=True))
        return {each: _read(archives[f"{each.package}@{each.version}"], each.path) for each in files}


def _pack(npm: str, packages: Sequence[str], folder: str) -> list[Path]:
    options = ["--json", "--ignore-scripts", "--prefer-offline", "--fetch-retries=1"]
    command = [npm, "pack", *packages, *options, "--pack-destination", folder]
    try:
        done = subprocess.run(  # noqa: S603 (the packages are this project's own choice)
            command, cwd=folder, capture_output=True, text=True, timeout=_LIMIT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise NotFetched(f"npm has not answered after {_LIMIT_SECONDS} seconds") from error
    if done.returncode:
        raise NotFetched(f"npm cannot fetch {', '.join(packages)}: {_why(done)}")
    return [Path(folder, each["filename"]) for each in json.loads(done.stdout)]


def _why(done: subprocess.CompletedProcess[str]) -> str:
    try:
        error = json.loads(done.stdout)["error"]
        return " ".join(f"{error['code']} {error['summary']}".split())
    except (ValueError, LookupError):
        return (done.stderr.strip().splitlines() or ["it does not say why"])[-1]


def _read(archive: Path, path: str) -> bytes:
    with tarfile.open(archive) as opened:
        try:
            member = opened.extractfile(f"{_ROOT}/{path}")
        except KeyError:
            member = None
        if member is None:
            raise NotFetched(f"{archive.name} from the npm registry holds no file {path}")
        return member.read()
