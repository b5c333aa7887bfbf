"""A comparison as JSON can hold it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from format_bench.agreement.compare import Comparison
    from format_bench.agreement.rank_agreement import Agreement, Disagreement
    from format_bench.agreement.ratios import Ratio


def document(comparison: Comparison) -> dict[str, Any]:
    """Return all of a comparison; values are as measured, in their units, and not rounded."""
    return {
        "a": comparison.a,
        "b": comparison.b,
        "verdicts": dict(Counter(str(each.verdict) for each in comparison.ratios)),
        "cells": [_cell(each) for each in comparison.ratios],
        "rank_correlations": [_agreement(each) for each in comparison.agreements],
        "rank_disagreements": [_disagreement(each) for each in comparison.disagreements],
        "circumstances_that_differ": [each._asdict() for each in comparison.differences],
        "cells_in_a_only": comparison.only_a,
        "cells_in_b_only": comparison.only_b,
        "remarks": comparison.remarks,
    }


def _cell(ratio: Ratio) -> dict[str, Any]:
    pair = ratio.pair
    interval = None if None in (ratio.low, ratio.high) else [ratio.low, ratio.high]
    return {
        "family": pair.table.family,
        **pair.choice._asdict(),
        "dataset": pair.table.dataset,
        "rows_a": pair.table.rows_a,
        "rows_b": pair.table.rows_b,
        "metric": pair.measure.option,
        "unit": pair.measure.unit,
        "a": pair.a.value,
        "b": pair.b.value,
        "relative": ratio.relative,
        "ratio": ratio.value,
        "interval": interval,
        "confidence": ratio.confidence,
        "verdict": ratio.verdict,
    }


def _agreement(agreement: Agreement) -> dict[str, Any]:
    return {
        **agreement._asdict(),
        "measure": agreement.measure.option,
        "dataset": agreement.dataset or None,
    }


def _disagreement(found: Disagreement) -> dict[str, Any]:
    return {
        "format": str(found.choice),
        "dataset": found.table.dataset,
        "metric": found.measure.option,
        "rank_a": found.rank_a,
        "rank_b": found.rank_b,
        "formats": found.formats,
    }
