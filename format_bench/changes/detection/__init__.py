"""Change-point detection in many short series, with few false alarms over all of them.

It works on arrays alone: `detect` takes a `DetectorInput` of each series, and returns its change points.
"""

from format_bench.changes.detection.detector import (
    LEAST_SHARE,
    POINTS_PER_EXCEPTION,
    detect,
    holm_threshold,
)
from format_bench.changes.detection.model import ChangePoint, DetectorInput

__all__ = [
    "LEAST_SHARE",
    "POINTS_PER_EXCEPTION",
    "ChangePoint",
    "DetectorInput",
    "detect",
    "holm_threshold",
]
