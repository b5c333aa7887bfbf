"""Adds the pages to a site that asv is publishing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.errors import FormatBenchError, Unavailable
from format_bench.dashboard import asv_page
from format_bench.dashboard.source import source_of

if TYPE_CHECKING:
    from format_bench.dashboard.source import Source


def publish(configuration: Any, root: Path, warn: Callable[[str], None]) -> None:
    """Write the pages into asv's site, and move asv's own page aside; all of it or nothing.

    What is the matter with the results or the installation is told, and leaves asv's site as it is.

    Parameters
    ----------
    configuration : asv.config.Config
        asv's.
    root : Path
        The folder of the checkout.
    warn : callable
        Takes a line that says what is the matter.
    """
    source = source_of(configuration, root)
    try:
        # The overview replaces asv's page, so it comes last.
        files = {**_moved(source), **_files(source)}
    except FormatBenchError as error:
        warn(f"the site has no report: {error}")
        return
    for name, text in files.items():
        _write(source.html_dir / name, text)


def _moved(source: Source) -> dict[str, str]:
    return {asv_page.ASV_PAGE: asv_page.with_link(asv_page.read(source.html_dir))}


def _files(source: Source) -> dict[str, str]:
    try:
        from format_bench.dashboard.site import files
    except ModuleNotFoundError as error:
        reason, hint = f"{error.name} is not installed", "pip install 'formatbench[site]'"
        raise Unavailable("the report", reason, hint) from error
    return files(source)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.partial")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)
