"""Register of emulated media on this machine: the parts of each, kept until it is removed.

An entry is written before anything is made: a medium whose maker was killed can still be removed whole.
Its mounts, loop devices and processes are found by the paths that they have open.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import struct
from dataclasses import asdict, dataclass
from pathlib import Path

from adapter_core.errors import MediumError
from adapter_core.files import content_of, write_atomically

FOLDER = Path("/run/format-bench/media")
"""A folder that a restart of the machine empties, as it does the mounts."""


@dataclass(frozen=True)
class EmulatedMedium:
    """A medium that `format-bench media make` made, or is making."""

    folder: Path
    """Its mount point."""
    label: str
    """The name in results, e.g. "emulated hdd"."""
    kind: str
    size_bytes: int
    maker: int
    """The process that makes it."""
    maker_start: int | None
    """Its start in ticks since the machine's, since numbers of processes are used again."""
    wanted: str = ""
    obtained: str = ""
    """The figures of the probe; empty until all is made."""

    @property
    def is_unfinished(self) -> bool:
        """Whether its maker was killed."""
        return not self.obtained and start_time_of(self.maker) != self.maker_start

    @property
    def work_folder(self) -> Path:
        """The folder of the file behind the medium; media in memory lack it."""
        return self.folder.with_name(f".{self.folder.name}.format-bench-medium")

    @property
    def counts_file(self) -> Path:
        """The file in which a slow disk counts its seeks; other media lack it."""
        return self.work_folder / "seeks"


def start_time_of(process: int) -> int | None:
    """Return the start of a process in ticks since the machine's; None if it has ended."""
    with contextlib.suppress(OSError):
        # After the name in brackets, which may contain spaces.
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        is_dead = fields[0] in {"Z", "X"}
        return None if is_dead else int(fields[19])
    return None


def add(medium: EmulatedMedium) -> None:
    """Write the entry of a medium, in place of an earlier one of its folder."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    facts = asdict(medium) | {"folder": str(medium.folder)}
    with write_atomically(_path(medium.folder), durable=True) as temporary:
        temporary.write_text(json.dumps(facts) + "\n", encoding="utf-8")


def forget(medium: EmulatedMedium) -> None:
    """Remove the entry of a medium."""
    _path(medium.folder).unlink(missing_ok=True)


def media() -> list[EmulatedMedium]:
    """Return the emulated media, by folder."""
    found = []
    for path in FOLDER.glob("*.json"):
        # Another process may have just removed it.
        with contextlib.suppress(FileNotFoundError):
            content = path.read_bytes()
            with content_of(path, MediumError, "is no entry of an emulated medium; remove it"):
                facts = json.loads(content)
                found.append(EmulatedMedium(**facts | {"folder": Path(facts["folder"])}))
    return sorted(found, key=lambda each: each.folder)


def medium_at(folder: Path) -> EmulatedMedium | None:
    """Return the emulated medium that is mounted on a folder."""
    return next((each for each in media() if each.folder == folder.resolve()), None)


def seeks_at(folder: Path) -> int | None:
    """Return the seeks for reads that the emulated disk below a folder has made; None on other media."""
    below = (each for each in media() if folder.resolve().is_relative_to(each.folder))
    medium = next(below, None)
    if medium is None or not medium.counts_file.exists():
        return None
    (seeks,) = struct.unpack("<Q", medium.counts_file.read_bytes())
    return int(seeks)


def label_at(mount_point: Path) -> str | None:
    """Return the label of the emulated medium with a mount point; None if it is not one."""
    try:
        found = medium_at(mount_point)
    except PermissionError:
        return None
    return found.label if found else None


def _path(folder: Path) -> Path:
    return FOLDER / f"{hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]}.json"
