"""Names of the members of ZIP archives."""

from __future__ import annotations

import zipfile
from contextlib import suppress
from pathlib import Path

SIGNATURES = (b"PK\3\4",)


def members_of(path: Path, head: bytes) -> list[str]:
    """Return the names of the members; none if it is not an archive, or a damaged one."""
    if head.startswith(SIGNATURES):
        with suppress(Exception), zipfile.ZipFile(path) as archive:
            return archive.namelist()
    return []
