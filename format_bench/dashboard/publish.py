"""Addition of the pages to a site that asv is publishing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from adapter_core.errors import FormatBenchError, UnavailableError
from adapter_core.files import write_atomically
from format_bench.dashboard import asv_page


def publish(configuration: Any, root: Path, warn: Callable[[str], None]) -> None:
    """Write the pages into asv's site, and rename asv's own page; all of it or nothing.

    If results or packages are missing, asv's site stays as it is, with one warning.

    Parameters
    ----------
    configuration : asv.config.Config
        asv's.
    root : Path
        The folder of the checkout.
    warn : callable
        Takes a warning of one line.
    """
    html_dir = Path(configuration.html_dir)
    page = asv_page.read(html_dir, asv_page.INDEX)
    files: dict[str, bytes] = {}
    if asv_page.wants_local_scripts():
        try:
            page, files = asv_page.with_local_scripts(page)
        except FormatBenchError as error:
            warn(f"asv's page loads its scripts from elsewhere: {error}")
    try:
        error_page = asv_page.read(html_dir, asv_page.ERROR_PAGE)
        texts = asv_page.with_links(page, error_page) | _report(configuration, root)
    except FormatBenchError as error:
        warn(f"the site has no report: {error}")
        texts = {asv_page.INDEX: page}
    files |= {name: text.encode() for name, text in texts.items()}
    for name, content in files.items():
        _write(html_dir / name, content)


def _report(configuration: Any, root: Path) -> dict[str, str]:
    try:
        from format_bench.dashboard.site import site_files
        from format_bench.dashboard.site_data import site_config

        return site_files(site_config(configuration, root))
    except ModuleNotFoundError as error:
        reason, hint = f"{error.name} is not installed", "pip install 'formatbench[site]'"
        raise UnavailableError("the report", reason, hint) from error


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with write_atomically(path) as temporary:
        temporary.write_bytes(content)
