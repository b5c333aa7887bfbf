"""What the site is made from, and where it goes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from format_bench.results import noise_floor

if TYPE_CHECKING:
    from format_bench.results.noise_floor import Floors


@dataclass(frozen=True)
class Source:
    """What asv's configuration says, and where the project is."""

    project: str
    project_url: str
    commit_url: str
    """What a commit's hash is appended to."""
    site_url: str
    """Where the site will stand, with a slash at its end; empty if there is no `site_url`."""
    results_dir: Path
    html_dir: Path
    root: Path
    """The checkout: its git history has the library sets, its folder `docs` the documents."""

    @cached_property
    def floors(self) -> Floors | None:
        """By how much two equal measurements differ on this machine, if that was measured."""
        path = self.results_dir.parent / "noise.json"
        return noise_floor.read(path) if path.exists() else None


def source_of(configuration: Any, root: Path) -> Source:
    """Return the source of a site.

    Parameters
    ----------
    configuration : asv.config.Config
        asv's; relative paths in it are relative to the working directory.
    root : Path
        The folder of the checkout.
    """
    site_url = getattr(configuration, "site_url", "")
    return Source(
        project=configuration.project,
        project_url=configuration.project_url,
        commit_url=configuration.show_commit_url,
        site_url=f"{site_url.rstrip('/')}/" if site_url else "",
        results_dir=Path(configuration.results_dir),
        html_dir=Path(configuration.html_dir),
        root=root,
    )
