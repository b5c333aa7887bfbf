"""Conditions of measurements: axes, one for each file in `axes`, and their contexts around a case."""

from format_bench.conditions.axis import Axis, Surroundings
from format_bench.conditions.registry import axes, explained, interpreter_of, surrounded, under, why_not

__all__ = [
    "Axis",
    "Surroundings",
    "axes",
    "explained",
    "interpreter_of",
    "surrounded",
    "under",
    "why_not",
]
