"""Readers and writers in other languages: folders of `foreign_readers`, with programs and a declaration.

A reader gets the path of a file, and prints the table in canonical form; a writer takes this form from
its standard input, and writes the file. Or they print an error and end with another status than 0.
Some also add up columns, for files too large to print.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from adapter_core import Availability, UnavailableError
from adapter_core.errors import UnknownNameError
from adapter_core.files import user_cache, write_atomically

FOLDER = Path(__file__).resolve().parents[2] / "foreign_readers"
"""Folder of the readers; it is a part of a checkout, not of an installed package."""

DECLARATION = "reader.toml"

# Time for a build; a first build with Cargo or Go compiles all libraries, for minutes.
_BUILD_SECONDS = 1800


class Declaration(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A reader as reader.toml declares it."""

    title: str
    """The library and its language."""
    suffixes: list[str]
    """Suffixes of the files that it reads, e.g. ".parquet"."""
    run: list[str]
    """The command, with "{file}" for the path, or "{files}" for many, which it reads in turn.

    Its current folder is the reader's, as built.
    """
    build: list[list[str]] = []
    """Commands that build a copy of the folder, in turn; none for a reader that needs no build."""
    needs: dict[str, str] = {}
    """Programs of PATH, and how to get each."""
    families: tuple[str, ...] = ("tables", "records")
    """Kinds of data of its files; it writes the first. No array is a table, whatever its suffix."""
    write: dict[str, list[str]] = {}
    """Commands by the table format that they write, with "{file}" for the path."""
    sums: dict[str, list[str]] = {}
    """Commands by the table format that they add up, with "{file}", "{added}" and "{zero}".

    The last two are names of columns with commas: the first are added up in rows where the others are 0.
    """


@dataclass(frozen=True)
class ForeignReader:
    """A reader in another language, which may write, too."""

    name: str
    folder: Path
    """Its folder, which it may share with others that are built together."""
    declaration: Declaration

    @property
    def place(self) -> Path:
        """The folder in which it runs, which exists once it is built."""
        if not self.declaration.build:
            return self.folder
        files = sorted(each for each in self.folder.rglob("*") if each.is_file())
        sums = [hashlib.sha256(each.read_bytes()).hexdigest() for each in files]
        mark = hashlib.sha256("".join(sums).encode()).hexdigest()[:12]
        return user_cache() / "foreign_readers" / f"{self.folder.name}-{mark}"

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
                try:
                    done = subprocess.run(  # noqa: S603 (of the declaration)
                        command,
                        cwd=temporary,
                        capture_output=True,
                        text=True,
                        timeout=_BUILD_SECONDS,
                        check=False,
                    )
                    lines = (done.stderr or done.stdout).strip().splitlines() or ["no reason given"]
                    why = lines[-1] if done.returncode else ""
                except subprocess.TimeoutExpired:
                    why = f"not finished after {_BUILD_SECONDS:.0f} seconds"
                if why:
                    reason = f"{' '.join(command)} failed: {why}"
                    raise UnavailableError(self.name, reason, f"format-bench build {self.name}")
        return place


@dataclass(frozen=True)
class ForeignEngine:
    """A table format by an implementation in another language."""

    format: str
    """Label of the adapter of the format without an engine, whose files have the same suffix."""
    implementation: ForeignReader

    @property
    def label(self) -> str:
        """The format with the implementation as its engine, e.g. "Parquet[parquet-go]"."""
        return f"{self.format}[{self.implementation.name}]"


class ForeignWriter(ForeignEngine):
    """A table format as an implementation in another language writes it."""

    @property
    def command(self) -> list[str]:
        """The command that writes a file."""
        return self.implementation.declaration.write[self.format]


class ForeignSum(ForeignEngine):
    """A table format whose columns an implementation in another language adds up."""

    @property
    def command(self) -> list[str]:
        """The command that adds up columns of a file."""
        return self.implementation.declaration.sums[self.format]


E = TypeVar("E", bound=ForeignEngine)


def names() -> list[str]:
    """Return the names of all foreign readers, available or not."""
    return sorted(name for name, _, _ in _declared())


def find(name: str) -> ForeignReader:
    """Return a foreign reader.

    Raises
    ------
    UnknownNameError
        If there is none of that name.
    ValueError
        If its declaration is invalid; the message names the file.
    """
    for found in _declared():
        if found[0] == name:
            return _reader(*found)
    raise UnknownNameError("foreign reader", name, names())


def writers() -> dict[str, ForeignWriter]:
    """Return the writers in other languages by label, available or not."""
    return _engines(ForeignWriter, lambda declaration: declaration.write)


def sums() -> dict[str, ForeignSum]:
    """Return the formats that programs in other languages add up, by label, available or not."""
    return _engines(ForeignSum, lambda declaration: declaration.sums)


def _engines(made: type[E], formats: Callable[[Declaration], Iterable[str]]) -> dict[str, E]:
    """Return the engines of a class by label, one for each format that a reader's declaration has."""
    found = (
        made(label, reader)
        for reader in starmap(_reader, _declared())
        for label in formats(reader.declaration)
    )
    return {each.label: each for each in found}


def _declared() -> Iterator[tuple[str, Path, dict[str, Any]]]:
    """Yield the name, the file and the declaration of each reader.

    A file declares one reader, named like its folder, or several in the table `readers`, which share the
    other entries.
    """
    for path in sorted(FOLDER.glob(f"*/{DECLARATION}")):
        try:
            shared = tomllib.loads(path.read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"{path}: {error}") from error
        for name, own in shared.pop("readers", {path.parent.name: {}}).items():
            yield name, path, shared | own


def _reader(name: str, path: Path, declared: dict[str, Any]) -> ForeignReader:
    try:
        return ForeignReader(name, path.parent, msgspec.convert(declared, Declaration))
    except msgspec.ValidationError as error:
        raise ValueError(f"{path}: {error}") from error
