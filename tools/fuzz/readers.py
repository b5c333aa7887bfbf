"""All readers that are fuzzed, by name."""

from __future__ import annotations

from tools.fuzz import arrays, harmful, images, records, states, tables

TARGETS = {
    each.name: each for module in (tables, arrays, images, records, states) for each in module.targets()
}
READERS = tuple(TARGETS)
"""Names of the readers of the program."""

TARGETS["harmful"] = harmful.target()
