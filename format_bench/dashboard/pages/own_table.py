"""Page that predicts a format for a reader's own table, which stays in the browser."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from adapter_core.errors import UnavailableError
from format_bench.compatibility.foreign import Declaration, ForeignReader
from format_bench.dashboard.layout import Page, render
from format_bench.dashboard.portable_model import NAME, portable
from format_bench.dashboard.site_data import SiteData
from format_bench.prediction.model import FEWEST_TABLES
from format_bench.prediction.predicted import MeasuredTable, MeasuredTables, Predictor
from format_bench.recommendation.chooser import chooser_of

MENU_ORDER = 5

FILE_NAME = "own-table.html"
SUMMARY = "A format for your own table, predicted in the browser, which sends nothing."

_HINT = "install Node.js 20 or newer, https://nodejs.org"
# npm waits a minute for a network by itself.
_INSTALL = "npm ci --no-audit --no-fund --ignore-scripts --fetch-retries=1 --fetch-retry-mintimeout=1000"

READER = ForeignReader(
    "the reader of files",
    Path(__file__).resolve().parents[1] / "browser",
    Declaration(
        title="Reader of tables in a browser",
        suffixes=[
            ".csv",
            ".tsv",
            ".json",
            ".jsonl",
            ".ndjson",
            ".parquet",
            ".pq",
            ".parq",
            ".xlsx",
            ".xlsm",
        ],
        run=[],
        build=[_INSTALL.split(), ["npm", "run", "build"]],
        needs={"node": _HINT, "npm": _HINT},
    ),
)
"""Our script and the npm packages that it needs, as one script; built once for each version."""


def pages(site: SiteData) -> Iterator[Page]:
    """Yield the page, if enough tables were measured to predict another one."""
    tables = MeasuredTables.of([site.latest.results]).tables
    if len(tables) >= FEWEST_TABLES:
        yield page(tables)


def page(tables: Sequence[MeasuredTable]) -> Page:
    """Return the page that predicts from measured tables."""
    try:
        library, reason = _library(), ""
    except UnavailableError as error:
        library, reason = "", error.reason
    predictor = Predictor(tables)
    # The chooser's names, codes and answers are of the formats; its cells come from the reader's table.
    chooser = chooser_of(predictor.predict(tables[0].profile, NAME).results)
    body = render(
        "own_table.html",
        reason=reason or ("" if chooser else "nothing can be ranked"),
        accepted=",".join(READER.declaration.suffixes),
        chooser=chooser,
        top={"banner": ""},
        model=_json(portable(predictor)),
        licences=_licences() if library else {},
    )
    scripts = ("chooser.js", "own_table.js", "code.js") if library and chooser else ()
    return Page("Your table", FILE_NAME, body, SUMMARY, scripts=scripts, library=library)


def _library() -> str:
    """Return the reader of files as a script.

    Raises
    ------
    UnavailableError
        If it cannot be built here.
    """
    return (READER.build() / "table_reader.js").read_text(encoding="utf-8")


def _licences() -> dict[str, str]:
    """Return the licences of the packages in the script, by name and version."""
    place = READER.place
    lock = json.loads((place / "package-lock.json").read_text(encoding="utf-8"))
    used = {name: each for name, each in lock["packages"].items() if name and not each.get("dev")}
    return {
        f"{name.removeprefix('node_modules/')} {each['version']}, {each['license']}": next(
            (file.read_text(encoding="utf-8") for file in sorted((place / name).glob("LICEN[CS]E*"))), ""
        )
        for name, each in used.items()
    }


def _json(values: Any) -> str:
    # The element would end at "</script".
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")
