"""What the project declares that it needs, as its own build tells."""

from __future__ import annotations

import subprocess
from importlib.metadata import PathDistribution
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from adapter_core.errors import FormatBenchError
from format_bench.library_sets.resolution import Unresolvable, reason

if TYPE_CHECKING:
    from importlib.metadata import PackageMetadata

NEEDED = ""
"""The key of what is needed in any case; the other keys are names of extras."""


def declared(root: Path) -> dict[str, list[str]]:
    """Return the requirements of a checkout by extra, and under `NEEDED` those without one.

    Extras that an extra names are left out: they are listed themselves.

    Parameters
    ----------
    root : Path
        The folder of setup.py.

    Returns
    -------
    dict
        Requirement strings without the marker of their extra, as in ``"pyarrow>=15"``, ordered.

    Raises
    ------
    Unresolvable
        If the build backend cannot be installed, as where no package index is in reach.
    FormatBenchError
        If the build fails.
    """
    from packaging.requirements import Requirement

    metadata = _metadata(root)
    extras = metadata.get_all("Provides-Extra") or []
    found: dict[str, set[str]] = {extra: set() for extra in [NEEDED, *extras]}
    for text in metadata.get_all("Requires-Dist") or []:
        requirement = Requirement(text)
        marker, requirement.marker = requirement.marker, None
        if requirement.name == metadata["Name"]:
            continue
        for extra in extras if marker else [NEEDED]:
            if marker is None or marker.evaluate({"extra": extra}):
                found[extra].add(str(requirement))
    return {extra: sorted(requirements) for extra, requirements in found.items()}


def _metadata(root: Path) -> PackageMetadata:
    """Return the metadata of a checkout, made by its build backend in an environment of its own."""
    from build import BuildBackendException, BuildException, ProjectBuilder
    from build.env import DefaultIsolatedEnv
    from pyproject_hooks import quiet_subprocess_runner

    try:
        with DefaultIsolatedEnv(installer="uv") as environment, TemporaryDirectory() as folder:
            builder = ProjectBuilder.from_isolated_env(environment, root, quiet_subprocess_runner)
            environment.install(builder.build_system_requires)
            environment.install(builder.get_requires_for_build("wheel"))
            return PathDistribution(Path(builder.metadata_path(folder))).metadata
    except subprocess.CalledProcessError as error:
        told = reason((error.stderr or b"").decode())
        raise Unresolvable(f"the build backend cannot be installed: {told}") from error
    except (BuildException, BuildBackendException) as error:
        raise FormatBenchError(f"{root}: what setup.py declares cannot be read: {error}") from error
