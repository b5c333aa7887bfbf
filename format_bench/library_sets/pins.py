"""A library set as a file: comments, and a line for each pinned package."""

from __future__ import annotations

HEAD = """\
# The library set under test, every version pinned; made with
# uv pip compile --universal --python-version {python_version} --no-header --no-annotate
"""


def parse(text: str) -> dict[str, str]:
    """Return the pinned version of each package that applies to the running Python, by name.

    Parameters
    ----------
    text : str
        Lines as in ``pyarrow==15.0.0 ; python_full_version < '3.12'``; comments and options are left
        out.

    Returns
    -------
    dict
        Versions by canonical name, ordered by name.

    Raises
    ------
    packaging.requirements.InvalidRequirement
        If a line is no requirement.
    ValueError
        If a line pins no version.
    """
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    found: dict[str, str] = {}
    for line in text.splitlines():
        line = line.partition("#")[0].strip()  # noqa: PLW2901 (the comment is not part of it)
        if not line or line.startswith("-"):
            continue
        requirement = Requirement(line)
        pins = list(requirement.specifier)
        if len(pins) != 1 or pins[0].operator != "==":
            raise ValueError(f"{line!r} pins no version")
        if requirement.marker is None or requirement.marker.evaluate():
            found[canonicalize_name(requirement.name)] = pins[0].version
    return dict(sorted(found.items()))
