"""asv's own pages, adapted: file names, links to the overview, and local copies of their scripts."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

from adapter_core.errors import UnknownAsvPageError

INDEX = "index.html"
# Name of asv's page once the overview has taken its own.
ASV_PAGE = "asv.html"

# Page that asv shows where its scripts cannot be loaded.
ERROR_PAGE = "error.html"

# Menu entry of asv's page that leads to the overview.
LINK = f'<li id="nav-li-report"><a href="{INDEX}">Report</a></li>\n\t'

# Link to the overview on the error page, which asks for scripts.
ERROR_LINK = f'<p>The <a href="{INDEX}">report</a> needs neither.</p>\n'

# Folder of the local copies, in this package as in the site.
VENDOR = "vendor"

# The first entry of the menu, and the end of the error page, in asv 0.6.
_MENU = '<li id="nav-li-"'
_END = "</body>"

_CDN, _NPM_CDN = "https://cdnjs.cloudflare.com/ajax/libs/", "https://cdn.jsdelivr.net/npm/"

# Files in `VENDOR` by the address in the page of asv 0.6.6.
LOCAL_FILES = {
    "https://code.jquery.com/jquery-3.3.1.min.js": "jquery-3.3.1.min.js",
    # The npm registry has Flot as written, not minified, and of stupidtable only 1.1.3.
    f"{_CDN}flot/0.8.3/jquery.flot.min.js": "jquery.flot-0.8.3.js",
    f"{_CDN}flot/0.8.3/jquery.flot.time.min.js": "jquery.flot.time-0.8.3.js",
    f"{_CDN}flot/0.8.3/jquery.flot.selection.min.js": "jquery.flot.selection-0.8.3.js",
    f"{_CDN}flot/0.8.3/jquery.flot.categories.min.js": "jquery.flot.categories-0.8.3.js",
    f"{_NPM_CDN}flot-orderbars@1.0.0/js/jquery.flot.orderBars.js": "jquery.flot.orderBars-1.0.0.js",
    f"{_CDN}stupidtable/1.0.1/stupidtable.min.js": "stupidtable-1.1.3.min.js",
    f"{_CDN}blueimp-md5/2.19.0/js/md5.min.js": "md5-2.19.0.min.js",
    f"{_NPM_CDN}bootstrap@3.1.1/dist/js/bootstrap.min.js": "bootstrap-3.1.1.min.js",
    f"{_NPM_CDN}bootstrap@3.1.1/dist/css/bootstrap.min.css": "bootstrap-3.1.1.min.css",
}

# The digest goes with the address: it is the minified file's.
EXTERNAL = re.compile(r'(?P<name>src|href)="(?P<address>https://[^"]+)" integrity="(?P<digest>[^"]+)"')


def with_links(page: str, error_page: str) -> dict[str, str]:
    """Return asv's pages with links to the overview, by file name.

    Raises
    ------
    UnknownAsvPageError
        If a place for a link is missing.
    """
    if page.count(_MENU) != 1 or error_page.count(_END) != 1:
        raise UnknownAsvPageError(
            f"asv's {INDEX} lacks a menu entry {_MENU}...>, or {ERROR_PAGE} lacks {_END}; is asv newer?"
        )
    return {
        ASV_PAGE: page.replace(_MENU, LINK + _MENU),
        ERROR_PAGE: error_page.replace(_END, ERROR_LINK + _END),
    }


def read(html_dir: Path, name: str) -> str:
    """Return one of the pages that asv has just written."""
    return (html_dir / name).read_text(encoding="utf-8")


def with_local_scripts(page: str) -> tuple[str, dict[str, bytes]]:
    """Return asv's page with local links, and the linked files by name, their licences included.

    Raises
    ------
    UnknownAsvPageError
        If the page loads a file that this package does not contain.
    """
    addresses = [link["address"] for link in EXTERNAL.finditer(page)]
    unknown = [address for address in addresses if address not in LOCAL_FILES]
    if unknown or not addresses:
        raise UnknownAsvPageError(
            f"no local copy of {', '.join(unknown) or 'any script'} in asv's {INDEX}; is asv newer?"
        )
    folder = resources.files(__package__) / VENDOR
    files = {f"{VENDOR}/{file.name}": file.read_bytes() for file in folder.iterdir()}
    return EXTERNAL.sub(_local_link, page), files


def _local_link(link: re.Match[str]) -> str:
    return f'{link["name"]}="{VENDOR}/{LOCAL_FILES[link["address"]]}"'
