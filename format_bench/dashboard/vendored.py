"""asv's page with its scripts beside it, for servers and readers without a network.

Files of packages in the npm registry, through npm itself: it knows mirrors, proxies and a cache.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from adapter_core.errors import FetchError, UnavailableError, VendoringError

_LIMIT_SECONDS = 300
_ROOT = "package"
"""The folder that holds everything in a package's archive."""


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
    UnavailableError
        If npm is not installed.
    FetchError
        If the registry cannot be reached, gives something else than it promised, or lacks a file.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise UnavailableError("npm", "it is not installed", "apt-get install npm")
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
        raise FetchError(f"npm has not answered after {_LIMIT_SECONDS} seconds") from error
    if done.returncode:
        raise FetchError(f"npm cannot fetch {', '.join(packages)}: {_why(done)}")
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
            raise FetchError(f"{archive.name} from the npm registry holds no file {path}")
        return member.read()


SWITCH = "FORMAT_BENCH_VENDOR_SCRIPTS"
"""Name of the environment variable that asks for it: "1" for yes."""

FOLDER = "vendor"

_CDN = "https://cdnjs.cloudflare.com/ajax/libs/"
_FLOT, _NPM_CDN = _CDN + "flot/0.8.3/jquery.flot", "https://cdn.jsdelivr.net/npm/"
SCRIPTS: dict[str, tuple[File, str]] = {
    "https://code.jquery.com/jquery-3.3.1.min.js": (File("jquery", "3.3.1", "dist/jquery.min.js"), ""),
    f"{_FLOT}.min.js": (
        File("flot", "0.8.3", "jquery.flot.js"),
        "1bVFcysZL1+sq86GjuK3hopY6NUKgO8hbXkMn8Bh7OEKYuUKAsu+77qYVCCEkm5XkeKh4yodJtVNRQzbDjoA1Q==",
    ),
    f"{_FLOT}.time.min.js": (
        File("flot", "0.8.3", "jquery.flot.time.js"),
        "fEs27qcvuepYOlPbogPMCRS2q1JLH+sSuTf59pTAHu224ltQYiSF5wKkZ5AQgkmn39D8BzKkJfVNQrsTEHvWgQ==",
    ),
    f"{_FLOT}.selection.min.js": (
        File("flot", "0.8.3", "jquery.flot.selection.js"),
        "c6h/44fD74kBkH1kAEx6q6aq6KXcbSn4ReY45CTD4Tu6R1O2T7Ql0Aa/Pqkzh3MQHZam58pHnjyvfJA6JfM4AA==",
    ),
    f"{_FLOT}.categories.min.js": (
        File("flot", "0.8.3", "jquery.flot.categories.js"),
        "N8W4gxKd16zsSZZ2OWsQDMaQu0jnxJPSiAsOwFkXgvnB1W0mmOqbxFiNhgGFJUFLjII7Q8VHdGNMDP+RH87uuA==",
    ),
    f"{_NPM_CDN}flot-orderbars@1.0.0/js/jquery.flot.orderBars.js": (
        File("flot-orderbars", "1.0.0", "js/jquery.flot.orderBars.js"),
        "",
    ),
    f"{_CDN}stupidtable/1.0.1/stupidtable.min.js": (
        File("stupid-table-plugin", "1.1.3", "stupidtable.min.js"),
        "T2dqwCYHuN8dbqIgYhwdGm+VtfUBecC06wUrciItlLJsteoe07db34cbmp/GZGIrC5/q1xy1V96BuvPiMXnedA==",
    ),
    f"{_CDN}blueimp-md5/2.19.0/js/md5.min.js": (File("blueimp-md5", "2.19.0", "js/md5.min.js"), ""),
    f"{_NPM_CDN}bootstrap@3.1.1/dist/js/bootstrap.min.js": (
        File("bootstrap", "3.1.1", "dist/js/bootstrap.min.js"),
        "",
    ),
    f"{_NPM_CDN}bootstrap@3.1.1/dist/css/bootstrap.min.css": (
        File("bootstrap", "3.1.1", "dist/css/bootstrap.min.css"),
        "",
    ),
}
"""By the address in asv's page, the file in the npm registry, and its SHA-512 where it is not the very
file that the page has the digest of: the registry has flot as written, not shortened, and of
stupidtable no version but this one."""

_LINK = re.compile(r'(?P<name>src|href)="(?P<address>https://[^"]+)" integrity="(?P<digest>[^"]+)"')


def is_asked_for() -> bool:
    """Tell whether the environment asks for it."""
    return os.environ.get(SWITCH, "") not in ("", "0")


def vendored(page: str) -> tuple[str, dict[str, bytes]]:
    """Return asv's page with local links, and the files that these lead to, by name.

    Raises
    ------
    VendoringError
        If the page names a script that is not known here, or the registry has another one.
    FetchError, UnavailableError
        If npm cannot fetch them.
    """
    links = list(_LINK.finditer(page))
    unknown = [link["address"] for link in links if link["address"] not in SCRIPTS]
    if unknown or not links:
        raise VendoringError(
            f"asv's page names scripts that are not known: {', '.join(unknown) or 'none'}"
        )
    found = fetch([SCRIPTS[link["address"]][0] for link in links])
    files = {}
    for link in links:
        file, own_digest = SCRIPTS[link["address"]]
        digest = f"sha512-{own_digest}" if own_digest else link["digest"]
        _verify(file, found[file], digest)
        name = f"{FOLDER}/{file.package}-{file.version}-{PurePosixPath(file.path).name}"
        files[name] = found[file]
        page = page.replace(link[0], f'{link["name"]}="{name}" integrity="{digest}"')
    return page, files


def _verify(file: File, content: bytes, digest: str) -> None:
    algorithm, _, expected = digest.partition("-")
    if base64.b64encode(hashlib.new(algorithm, content).digest()).decode() != expected:
        raise VendoringError(
            f"{file.path} of {file.package} {file.version} is not what it was: {digest}"
        )
