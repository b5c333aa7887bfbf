"""Readers in other languages: a folder each in `foreign_readers`, with a program and a declaration.

A program gets the path of a file, and prints the table in canonical form; or it prints an error and ends
with another status than 0.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

import msgspec

from adapter_core import Availability, UnavailableError
from adapter_core.errors import UnknownNameError
from adapter_core.files import user_cache, write_atomically

FOLDER = Path(__file__).resolve().parents[2] / "foreign_readers"
"""Folder of the readers; it is a part of a checkout, not of an installed package."""

DECLARATION = "reader.toml"

_BUILD_SECONDS = 1800
"""Time for a build; a first build with Cargo or Go compiles all libraries, for minutes."""


class Declaration(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The file reader.toml of a reader."""

    title: str
    """The library and its language."""
    suffixes: list[str]
    """Suffixes of the files that it reads, e.g. ".parquet"."""
    run: list[str]
    """The command, with "{file}" for the path; its current folder is the reader's, as built."""
    build: list[list[str]] = []
    """Commands that build a copy of the folder, in turn; none for a reader that needs no build."""
    needs: dict[str, str] = {}
    """Programs of PATH, and how to get each."""


@dataclass(frozen=True)
class ForeignReader:
    """A reader in another language."""

    folder: Path
    declaration: Declaration

    @property
    def name(self) -> str:
        """Name of the reader and of its folder."""
        return self.folder.name

    @property
    def place(self) -> Path:
        """The folder in which it runs, which exists once it is built."""
        if not self.declaration.build:
            return self.folder
        files = sorted(each for each in self.folder.rglob("*") if each.is_file())
        sums = [hashlib.sha256(each.read_bytes()).hexdigest() for each in files]
        mark = hashlib.sha256("".join(sums).encode()).hexdigest()[:12]
        return user_cache() / "foreign_readers" / f"{self.name}-{mark}"

    def toolchain(self) -> Availability:
        """Return whether the programs that it needs are here."""
        for program, how in self.declaration.needs.items():
            if not shutil.which(program):
                reason = f"{program} is not installed"
                return Availability(available=False, reason=reason, install_hint=how)
        return Availability(available=True)

    def availability(self) -> Availability:
        """Return whether it can run."""
        found = self.toolchain()
        if found and not self.place.is_dir():
            hint = f"format-bench build {self.name}"
            return Availability(available=False, reason="it is not built", install_hint=hint)
        return found

    def lacking(self) -> str:
        """Return why it cannot run, as a sentence; empty if it can."""
        found = self.availability()
        if found:
            return ""
        return f"{self.name} is unavailable: {found.reason}; try: {found.install_hint}"

    def build(self) -> Path:
        """Build it unless it is built, and return its place.

        Raises
        ------
        UnavailableError
            If a program is missing, or the build fails; the message contains its last line.
        """
        lacking = self.toolchain()
        if not lacking:
            raise UnavailableError(self.name, lacking.reason, lacking.install_hint)
        place = self.place
        if place.is_dir():
            return place
        place.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(place) as temporary:
            shutil.copytree(self.folder, temporary)
            for command in self.declaration.build:
                done = subprocess.run(  # noqa: S603 (of the declaration)
                    command,
                    cwd=temporary,
                    capture_output=True,
                    text=True,
                    timeout=_BUILD_SECONDS,
                    check=False,
                )
                if done.returncode:
                    lines = (done.stderr or done.stdout).strip().splitlines() or ["no reason given"]
                    reason = f"{' '.join(command)} failed: {lines[-1]}"
                    raise UnavailableError(self.name, reason, f"format-bench build {self.name}")
        return place


def names() -> list[str]:
    """Return the names of all foreign readers, available or not."""
    return sorted(each.parent.name for each in FOLDER.glob(f"*/{DECLARATION}"))


def find(name: str) -> ForeignReader:
    """Return a foreign reader.

    Raises
    ------
    UnknownNameError
        If there is none of that name.
    ValueError
        If its declaration is no valid one; the message names the file.
    """
    if name not in names():
        raise UnknownNameError("foreign reader", name, names())
    path = FOLDER / name / DECLARATION
    try:
        declared = tomllib.loads(path.read_text(encoding="utf-8"))
        return ForeignReader(path.parent, msgspec.convert(declared, Declaration))
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise ValueError(f"{path}: {error}") from error
