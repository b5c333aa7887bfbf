"""Notes of a release: the section of its version in the changelog, for a tag and the wheel built of it.

``python tools/release_notes.py v0.2.0 dist notes.md`` needs the standard library alone.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def section(changelog: str, version: str) -> str:
    """Return the text of a version's section; empty without one."""
    found = re.search(
        rf"^## \[?{re.escape(version)}\]?[^\n]*\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL
    )
    return found[1].strip() if found else ""


def main(tag: str, folder: str, target: str) -> None:
    """Write the notes, if the tag, the wheel and the changelog are of one version."""
    version = tag.removeprefix("v")
    wheels = sorted(each.name for each in Path(folder).glob("*.whl"))
    if wheels != [f"formatbench-{version}-py3-none-any.whl"]:
        sys.exit(
            f"the tag {tag} is not the version of the wheel: {', '.join(wheels) or 'there is none'}"
        )
    notes = section((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), version)
    if not notes:
        sys.exit(f"CHANGELOG.md has no section of {version}")
    Path(target).write_text(f"{notes}\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
