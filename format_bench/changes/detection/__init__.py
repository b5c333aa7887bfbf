"""Change-point detection in many short series, with few false alarms over all of them.

It works on arrays alone: `detect` takes a `DetectorInput` of each series, and returns its change points.
"""

from format_bench.changes.detection.detector import detect
from format_bench.changes.detection.model import ChangePoint, DetectorInput

__all__ = ["ChangePoint", "DetectorInput", "detect"]
