"""The configuration with which asv measures one library set: derived from asv.conf.json."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

INSTALL = (
    "in-dir={env_dir} python -m pip install --quiet --no-deps "
    "-r {build_dir}/constraints.txt {wheel_file}"
)
"""The set and nothing else: what it does not name is not there, rather than there as of today."""


@dataclass(frozen=True)
class Configuration:
    """How asv measures one commit of a checkout.

    Parameters
    ----------
    root : Path
        The folder of asv.conf.json, of the suites and of what asv writes.
    scale : str
        "full", "quick" or "tiny".
    commit : str
        The commit, whose environment is its own: asv removes nothing from one that it uses again, so
        libraries of another set would stay.
    """

    root: Path
    scale: str
    commit: str

    @property
    def path(self) -> Path:
        """The file: in the root, since asv works in the folder of its configuration."""
        return self.root / f".asv.history-{self.scale}.json"

    @property
    def results_dir(self) -> Path:
        """Where asv's results are, together with those of other commits at this scale."""
        return self.root / self._facts()["results_dir"]

    @property
    def env_dir(self) -> Path:
        """The folder of the environment."""
        return self.root / ".asv" / "history" / self.commit

    def write(self) -> None:
        """Write the file."""
        from asv.util import write_json

        facts = self._facts()
        facts |= {
            # asv tries the tips of the branches where a commit does not install.
            "branches": [self.commit],
            "env_dir": str(self.env_dir.relative_to(self.root)),
            "install_command": [INSTALL],
        }
        write_json(str(self.path), facts)

    def remove(self) -> None:
        """Remove the file and the environment."""
        self.path.unlink(missing_ok=True)
        shutil.rmtree(self.env_dir, ignore_errors=True)

    def installed(self) -> bool:
        """Return whether asv has installed the set and the project."""
        notes = self.env_dir.glob("*/asv-install-status.json")
        return any(f'"{self.commit}"' in note.read_text(encoding="utf-8") for note in notes)

    def _facts(self) -> dict[str, Any]:
        """Return asv.conf.json at the scale, as the Makefile derives it."""
        from json5 import loads

        text = (self.root / "asv.conf.json").read_text(encoding="utf-8")
        return loads(re.sub(r"\bfull\b", self.scale, text))
