"""Toy formats with pins that conflict, each in an environment of its own; files of a clone."""

from __future__ import annotations

import hashlib
import sysconfig
import zipfile
from pathlib import Path

from tests.factories import fake_formats

VERSIONS = {"One": "1.0", "Two": "2.0"}
"""Version of the toy library that each format pins, by label."""


def files(wheels: Path) -> dict[str, str]:
    """Return formats and locks by path in a clone; their packages are made in a folder.

    The environments borrow all other libraries from this one.
    """
    found = {}
    host = _wheel(wheels, "host_libraries", "1.0", {"host.pth": sysconfig.get_path("purelib")})
    for label, version in VERSIONS.items():
        toy = _wheel(wheels, "toylib", version, {"toylib.py": f"VERSION = '{version}'"})
        name = f"toy_{label.lower()}"
        lock = ["--no-index", f"--find-links {wheels}", host, toy]
        found[f"environments/{name}.txt"] = "\n".join([*lock, ""])
        save = f"import toylib\nassert toylib.VERSION == '{version}'"
        source = fake_formats.toy(label, save, ("pandas", f"toylib=={version}"))
        found[f"data_formats/{name}.py"] = source.replace(
            "    holds_dup", f"    environment = '{name}'\n    holds_dup"
        )
    return found


def _wheel(folder: Path, name: str, version: str, content: dict[str, str]) -> str:
    """Make a wheel of some files, and return its line in a lock."""
    about = f"{name}-{version}.dist-info"
    texts = {
        **content,
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: a\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    texts[f"{about}/RECORD"] = "".join(f"{each},,\n" for each in [*texts, f"{about}/RECORD"])
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for each, text in texts.items():
            wheel.writestr(each, text)
    return f"{name}=={version} --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
