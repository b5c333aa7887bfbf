"""A predictor as JSON values, which a page applies by the formulas of `prediction.model`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from adapter_core.kinds import Kind
from adapter_core.text import printable
from format_bench.prediction import model, table_profile
from format_bench.prediction.predicted import FAMILY, FAR, NEAREST, SUITE, refusal_of
from format_bench.recommendation.recommend import TINY_ROWS
from format_bench.recommendation.requirements import Requirement, answer
from format_bench.results.candidates import Candidate, DatasetSize
from format_bench.results.metrics import Measure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from format_bench.prediction.predicted import CellModel, Predictor
    from format_bench.results.candidates import Configuration
    from format_bench.results.records import Record

NAME = "your table"
"""Name of the table in sentences, whatever its file is called."""

# Significant digits: predictions differ from predictions of all digits by less than 1e-9.
_DIGITS = 12


def portable(predictor: Predictor) -> dict[str, Any]:
    """Return all that a prediction needs but the profile of the table."""
    space, tables = predictor.space, range(len(predictor.tables))
    losses = Measure(FAMILY.loss)
    entries: dict[str, dict[str, Any]] = {}
    for cell in predictor.cells:
        known = entries.setdefault(str(cell.configuration), _entry(cell.configuration))
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
