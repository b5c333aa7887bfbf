"""Page that predicts a format for a reader's own table, which stays in the browser."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from adapter_core.errors import UnavailableError
from adapter_core.kinds import Kind
from adapter_core.text import printable
from format_bench.compatibility.foreign import Declaration, ForeignReader
from format_bench.dashboard.layout import Page, render
from format_bench.dashboard.site_data import SiteData
from format_bench.prediction import model, table_profile
from format_bench.prediction.model import FEWEST_TABLES
from format_bench.prediction.predicted import (
    FAMILY,
    FAR,
    NEAREST,
    SUITE,
    CellModel,
    MeasuredTable,
    MeasuredTables,
    Predictor,
    refusal_of,
)
from format_bench.recommendation.chooser import chooser_of
from format_bench.recommendation.recommend import TINY_ROWS
from format_bench.recommendation.requirements import Requirement, answer
from format_bench.results.candidates import Candidate, Configuration, DatasetSize
from format_bench.results.metrics import Measure
from format_bench.results.records import Record

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

NAME = "your table"
"""Name of the table in sentences, whatever its file is called."""

# Significant digits: predictions differ from predictions of all digits by less than 1e-9.
_DIGITS = 12


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


def portable(predictor: Predictor) -> dict[str, Any]:
    """Return all that the formulas of `prediction.model` need but the profile of the table."""
    space, tables = predictor.space, range(len(predictor.tables))
    losses = Measure(FAMILY.loss)
    entries: dict[str, dict[str, Any]] = {}
    for cell in predictor.cells:
        name = str(cell.configuration)
        known = entries[name] = entries.get(name) or _entry(cell.configuration)
        known["cells"][cell.measure.option] = _cell(cell)
        if cell.measure == losses:
            known["exact"] = {n: _exact(cell.configuration, cell.records, n) for n in cell.records}
    return {
        "name": NAME,
        "loss": losses.phrase,
        "features": space.names,
        "centre": list(map(_short, space.centre)),
        "weights": list(map(_short, space.weights)),
        "linear": model.LINEAR,
        "local": model.LOCAL,
        "nearest": NEAREST,
        "tiny_rows": TINY_ROWS,
        "measured_rows": predictor.measured_rows,
        "far": FAR,
        "tables": [printable(each.name) for each in predictor.tables],
        "places": [list(map(_short, space.places[number])) for number in tables],
        "groups": {name: sorted(kinds) for name, kinds in table_profile.GROUPS.items()},
        "least_ratio": table_profile.LEAST_RATIO,
        "least_bytes": table_profile.LEAST_BYTES,
        "place_bytes": table_profile.PLACE_BYTES,
        "entries": entries,
    }


def _entry(configuration: Configuration) -> dict[str, Any]:
    refused = {str(kind): refusal_of(configuration.format, [kind]) for kind in Kind}
    return {
        "refused": {kind: printable(reason) for kind, reason in refused.items() if reason},
        "cells": {},
        "exact": {},
        "unverified": _exact(configuration, {}, 0),
    }


def _cell(cell: CellModel) -> dict[str, Any]:
    """Return the fit of a cell, or its value or reason by the number of the table."""
    if cell.fit:
        return {
            "unit": cell.measure.unit,
            "centre": _short(cell.fit.centre),
            "weights": list(map(_short, cell.fit.weights)),
            "factor": _short(math.exp(cell.fit.error)),
        }
    return {
        "of": {
            number: printable(f"{each.status}: {each.sentence}") if each.value is None else each.value
            for number, each in cell.records.items()
        }
    }


def _exact(configuration: Configuration, records: Mapping[int, Record], number: int) -> str | None:
    """Return why a table did not come back as it was saved; None if it did."""
    place = DatasetSize(NAME, 0)
    cells = {(place, Measure(FAMILY.loss)): records[number]} if number in records else {}
    found = answer(Requirement.EXACT, Candidate(configuration, cells), SUITE, [place])
    return None if found.met else printable(found.sentence)


def _short(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
