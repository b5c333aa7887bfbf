"""Media that a run compares: folders for measured files, each with the name that results have."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from adapter_core.errors import InvalidRequestError
from format_bench.instruments import probe
from format_bench.instruments.medium import MediumFacts
from format_bench.instruments.probe import Probe
from format_bench.runner import folders


class Scratch(NamedTuple):
    """A folder for measured files, as the user names it."""

    folder: Path
    medium: str = ""
    """The user's name of its medium; empty if it has to be found out."""

    @classmethod
    def parse(cls, text: str) -> Scratch:
        """Return the folder of a text like "/data" or "ssd=/data".

        Raises
        ------
        InvalidRequestError
            If the name or the folder is missing.
        """
        medium, equals, folder = text.partition("=")
        if not equals or "/" in medium or Path(text).exists():
            return cls(Path(text))
        if not medium.strip() or not folder:
            raise InvalidRequestError(
                f"--scratch {text}: not a folder with a name; write e.g. ssd=/data"
            )
        return cls(Path(folder), medium.strip())


@dataclass(frozen=True)
class ComparedMedium:
    """A medium of a run."""

    name: str
    """E.g. "tmpfs" or "emulated hdd": the name in results."""
    folder: Path
    facts: MediumFacts
    probe: Probe

    @property
    def metadata(self) -> dict[str, Any]:
        """The facts and the measured figures, as values that JSON supports."""
        return {"path": str(self.folder), **asdict(self.facts), **asdict(self.probe)}


def compared(scratches: Iterable[Scratch]) -> list[ComparedMedium]:
    """Return the media of folders, measured once for each mounted file system.

    Raises
    ------
    InvalidFolderError
        If a folder cannot take measured files, or cannot be measured.
    InvalidRequestError
        If two media would have one name.
    """
    probes: dict[tuple[str | None, str | None], Probe] = {}
    found: dict[str, ComparedMedium] = {}
    for scratch in scratches:
        folder = folders.check_scratch(scratch.folder)
        facts = MediumFacts.of(folder)
        mount = facts.mount_point, facts.source
        if mount not in probes:
            probes[mount] = probe.measure(folder)
        name = _name(scratch, facts, probes[mount])
        if name in found:
            raise InvalidRequestError(
                f"--scratch {folder} and {found[name].folder} are both {name}; name them, as in "
                f"--scratch fast={folder}"
            )
        found[name] = ComparedMedium(name, folder, facts, probes[mount])
    return list(found.values())


def _name(scratch: Scratch, facts: MediumFacts, measured: Probe) -> str:
    """Return the user's name, marked on an emulated medium, or the one that was found out."""
    label = facts.label(measured.random_read_seconds)
    if not scratch.medium:
        return label
    is_marked = not facts.emulated or scratch.medium.startswith("emulated")
    return scratch.medium if is_marked else f"emulated {scratch.medium}"


def for_data(media: Iterable[ComparedMedium]) -> Path:
    """Return the folder for the data of the cases, which are not measured: on the fastest disk."""

    def place(each: ComparedMedium) -> tuple[bool, float]:
        # In memory they would take it from the formats.
        return each.facts.is_in_memory, -each.probe.sequential_bytes_per_second

    return min(media, key=place).folder
