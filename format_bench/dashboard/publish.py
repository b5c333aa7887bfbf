"""Adds the pages to a site that asv is publishing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.errors import FormatBenchError, UnavailableError
from adapter_core.files import write_atomically
from format_bench.dashboard import asv_page
from format_bench.dashboard.layout import source_of

if TYPE_CHECKING:
    from format_bench.dashboard.layout import Source


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
    page = asv_page.read(source.html_dir, asv_page.INDEX)
    files: dict[str, bytes] = {}
    if asv_page.wants_local_scripts():
        try:
            page, files = asv_page.with_local_scripts(page)
        except FormatBenchError as error:
            warn(f"asv's page loads its scripts from elsewhere: {error}")
    try:
        error_page = asv_page.read(source.html_dir, asv_page.ERROR_PAGE)
        report = {**asv_page.with_links(page, error_page), **_files(source)}
    except FormatBenchError as error:
        warn(f"the site has no report: {error}")
        report = {asv_page.INDEX: page}
    for name, text in report.items():
        files[name] = text.encode()
    for name, content in files.items():
        _write(source.html_dir / name, content)


def _files(source: Source) -> dict[str, str]:
    try:
        from format_bench.dashboard.site import files

        return files(source)
    except ModuleNotFoundError as error:
        reason, hint = f"{error.name} is not installed", "pip install 'formatbench[site]'"
        raise UnavailableError("the report", reason, hint) from error


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with write_atomically(path) as temporary:
        temporary.write_bytes(content)
