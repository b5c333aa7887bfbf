"""A family of data made for tests, in one package: lists of notes, with adapter, suite and metrics."""

from __future__ import annotations

PACKAGE = "format_bench/families/notes"

_FAMILY = """
[family]
name = "notes"
title = "Notes"
place = 9
item = "note"
adapters = "format_bench.families.notes.adapters"
adapter = "note store"
parameter = "store"
user_data = "a list of notes"
loss = "lost notes"

[[step]]
name = "save"
metrics = ["save time", "save CPU time", "durable save time", "save memory", "size", "lines"]

[[step]]
name = "read"
cache = "warm"
metrics = ["read time", "read CPU time", "read memory", "held memory", "lost notes"]

[[step]]
name = "cold read"
cache = "cold"
metrics = ["read time", "read CPU time", "read amplification"]

[[suite]]
name = "notes"
title = "Notes"
prefix = "Notes"
qualifier = "notes"
measures = "note stores: save, read, size, lines"
datasets = ["shopping"]
sizes = { full = 1000, quick = 100, tiny = 10 }
run_size = 50
columns = ["save time", "read time", "size", "lines"]
version = 1

[suite.sampling]
full = { budget_seconds = 20.0, rounds = 2 }
quick = { budget_seconds = 0.2, rounds = 2 }
tiny = { budget_seconds = 0.1 }

[[suite.benchmarks]]
name = "Notes"
metrics = ["save time", "size", "lines"]

[[suite.benchmarks]]
name = "NotesLoad"
metrics = ["read memory", "lost notes"]

[[suite.benchmarks]]
name = "NotesRead"
caches = ["warm", "cold"]
metrics = ["read time"]
"""

_METRICS = """
[[metric]]
name = "lost notes"
unit = "notes"
noise = "exact"
column = "lost"
benchmark = "track_lost_notes"
operation = "lost notes"
remarked = true

[[metric]]
name = "lines"
unit = "lines"
noise = "exact"
column = "lines"
chart = "Lines"
leader = "Fewest lines"
leader_place = 8
benchmark = "track_lines"
operation = "lines"
"""

_OPERATIONS = '''
"""Operations on notes."""

import json

from format_bench.families.operations import Measured, Operations
from format_bench.verification import Diff


class NoteOperations(Operations):
    """One note store."""

    family = "notes"

    @staticmethod
    def datasets():
        """Return the names of the data sets."""
        return ["shopping"]

    @staticmethod
    def describe(dataset):
        """Return one line on a data set."""
        return "things to buy"

    @staticmethod
    def generate(dataset, size):
        """Return notes."""
        return [f"{number} apples" for number in range(size)]

    @staticmethod
    def store(data, path):
        """Store notes; return their number, and 1."""
        path.write_text(json.dumps(data), encoding="utf-8")
        return len(data), 1

    @staticmethod
    def load(path):
        """Return the notes."""
        return json.loads(path.read_text(encoding="utf-8"))

    @staticmethod
    def take(data, positions):
        """Return some of the notes."""
        return [data[position] for position in positions]

    def warm_up(self):
        """Do nothing: no library is imported late."""

    def check(self, data):
        """Accept all notes."""

    def save(self, data, file):
        """Save notes."""
        self.adapter.save(data, file)

    def compare(self, data, found):
        """Compare notes."""
        return Diff(errors=() if data == found else ("other notes",))

    def metric(self, metric, file, *, cache=None, budget_seconds=0.0):
        """Count the lines of the file."""
        if metric == "lines":
            return Measured(metric, [len(file.read_text(encoding="utf-8").splitlines())])
        return super().metric(metric, file, cache=cache, budget_seconds=budget_seconds)


OPERATIONS = NoteOperations
'''

_ADAPTERS = '''
"""Note stores, one file each."""

from pathlib import Path

from adapter_core.registry import Registry

registry = Registry("format_bench.families.notes.adapters", Path(__file__).parent, "note store")
'''

_ADAPTER = '''
"""Notes as lines of text."""

from pathlib import Path

from adapter_core.adapter import BaseAdapter


class Adapter(BaseAdapter):
    """Lines of text."""

    label = "{label}"
    suffix = ".txt"
    requires = ("numpy",)

    def save(self, notes, path):
        """Save notes."""
        with self.replacing(path) as temporary:
            temporary.write_text("".join(f"{{note}}{end}" for note in notes), encoding="utf-8")

    def read(self, path):
        """Read notes."""
        return [line for line in Path(path).read_text(encoding="utf-8").splitlines() if line]
'''

_BENCHMARKS = '''
"""Notes in all stores."""

from benchmarks._suites import benchmarks_of, prepare


def setup_cache():
    prepare("notes")


globals().update(benchmarks_of("notes"))
'''

FILES = {
    f"{PACKAGE}/__init__.py": '"""Notes."""\n',
    f"{PACKAGE}/family.toml": _FAMILY,
    f"{PACKAGE}/metrics.toml": _METRICS,
    f"{PACKAGE}/operations.py": _OPERATIONS.lstrip(),
    f"{PACKAGE}/adapters/__init__.py": _ADAPTERS.lstrip(),
    f"{PACKAGE}/adapters/plain.py": _ADAPTER.lstrip().format(label="Plain", end="\\n"),
    f"{PACKAGE}/benchmarks/notes.py": _BENCHMARKS.lstrip(),
}
"""The whole family, by path in a checkout."""

SECOND_ADAPTER = {
    f"{PACKAGE}/adapters/spaced.py": _ADAPTER.lstrip().format(label="Spaced", end="\\n\\n"),
}
"""A further adapter, for comparisons."""
