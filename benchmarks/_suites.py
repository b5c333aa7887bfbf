"""asv's classes of a suite, made from its declaration in the checkout.

asv addresses cases by index, so parameters must not come from the installed package: an older commit
with fewer formats would store its values under other formats' names. The declarations are therefore
read from the checkout's own files.
"""

import contextlib
import importlib.util
import os
import statistics
import sys
import types
from pathlib import Path

from format_bench.asv_support import steps
from format_bench.asv_support.cell import CellRun
from format_bench.asv_support.run import prepare_data
from format_bench.instruments.page_cache import sync

ROOT = Path(__file__).resolve().parent.parent


def _from_checkout(path):
    """Return a module of the checkout, whatever version of it is installed."""
    name = f"checkout_{path.stem}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[name]


declarations = _from_checkout(ROOT / "adapter_core" / "listing.py").declarations
suites = _from_checkout(ROOT / "format_bench" / "results" / "suites.py")
METRICS = _from_checkout(ROOT / "format_bench" / "results" / "metrics.py").METRICS

SCALE = os.environ.get("FORMAT_BENCH_SCALE", "full")
if SCALE not in suites.SCALES:
    raise ValueError(f"FORMAT_BENCH_SCALE is {SCALE!r}; it can be {', '.join(suites.SCALES)}")

# Seconds after which a cell counts as timed out: a hundred times what a usual format needs.
LIMIT_SECONDS = {"full": 1800, "quick": 90, "tiny": 8}[SCALE]

# Seconds that one go of random reads may take.
BUDGET_SECONDS = 3.0 if SCALE == "full" else 0.05

with contextlib.suppress(Exception):
    # Done before asv's fork server forks, so that hundreds of processes need not.
    import pandas  # noqa: F401
    import pyarrow  # noqa: F401

    for family in suites.FAMILIES.values():
        importlib.import_module(family.adapters).registry.names()


def prepare(suite):
    """Generate the data sets of a suite, once for all its classes; for `setup_cache`."""
    prepare_data(_family(suite), suites.SUITES[suite], SCALE)


def labels(suite):
    """Return the labels of the adapters that the checkout has for a suite."""
    found = declarations(ROOT / _family(suite).folder)
    names = [each.label for each in found if each.suite == suites.SUITES[suite].adapter_group]
    wanted = suites.SUITES[suite].formats
    return [name for name in names if name in wanted] if wanted else names


def benchmarks_of(suite):
    """Return asv's classes of a suite by name, for the namespace of its module."""
    declared = suites.SUITES[suite]
    return {each.name: _class_of(declared, each) for each in declared.benchmarks}


def _family(suite):
    return suites.FAMILIES[suites.SUITES[suite].family]


def _class_of(suite, benchmark):
    """Return a class with a method for each metric, under its own parameters."""
    base = _Save if "save time" in benchmark.metrics else _Load
    if benchmark.caches or "read time" in benchmark.metrics:
        base = _Read
    axes = {"codec": list(suite.codecs), "cache": list(benchmark.caches)}
    axes = {name: values for name, values in axes.items() if values}
    sampling = suite.sampling[SCALE]
    members = {
        "__doc__": f"{suite.title}: {', '.join(benchmark.metrics)}.",
        "suite": suite,
        "metrics": benchmark.metrics,
        "params": (labels(suite.name), list(suite.datasets), *axes.values()),
        "param_names": (_family(suite.name).parameter, "dataset", *axes),
        # Values of one scale never continue the line of another.
        "version": f"{suite.version} {SCALE}",
        "repeat": sampling.repeat,
        "rounds": sampling.rounds,
    }
    for name in benchmark.metrics:
        metric = METRICS[name]
        method = _METHODS.get(metric.benchmark) or _tracker(name)
        members[metric.benchmark] = _own_copy(method, metric, suite.prefix)
    return type(benchmark.name, (base,), members)


def _own_copy(method, metric, prefix):
    """Return a method with asv's attributes for one class: name and unit."""
    name = metric.benchmark
    own = types.FunctionType(method.__code__, method.__globals__, name, None, method.__closure__)
    own.pretty_name = f"{prefix}: {metric.pretty}"
    if metric.benchmark.startswith("track_"):
        own.unit = metric.unit
    return own


class _Suite:
    timeout = LIMIT_SECONDS + 30
    number = 1
    warmup_time = 0
    min_run_count = 1

    def begin(self, *params):
        name = type(self).__name__
        self.cell = CellRun(_family(self.suite.name), self.suite, name, params, SCALE, LIMIT_SECONDS)
        self.operations = self.cell.start()

    def teardown(self, *params):
        self.cell.end()


class _Save(_Suite):
    """Saving data in memory to a file that does not exist yet, and the file."""

    path = None

    def setup(self, *params):
        self.begin(*params)
        self.cell.check()
        self.data = self.cell.data
        self.path = self.cell.new_path
        self.operations.adapter.remove(self.path)
        # A suite with `peakmem_save` has a process of its own for the growth.
        own_process = "save memory" not in self.metrics or "save peak memory" in self.metrics
        self.meter = None if own_process else steps.SaveMeter(self.cell)

    def teardown(self, *params):
        self.cell.end()
        if self.path:  # else setup skipped the cell
            if self.meter:
                self.meter.note()
            self.cell.keep(self.path)


class _Load(_Suite):
    """The data that come back of a saved file."""

    found = None

    def setup(self, *params):
        self.begin(*params)
        self.path, self.cache = self.cell.saved(), None

    def teardown(self, *params):
        if self.found is not None:
            steps.note_verdict(self.cell, self.found)
        self.cell.end()

    def load(self):
        self.found = steps.read(self.cell, self.path)


class _Read(_Suite):
    """Reading a saved file, with it in the page cache or proven out of it."""

    def setup(self, *params):
        self.begin(*params)
        steps.refuse_wrong(self.cell)
        self.path = self.cell.saved()
        self.cache = params[-1] if "cache" in self.param_names else "warm"
        steps.set_page_cache(self.cell, self.path, self.cache)


def _time_save(self, *params):
    self.operations.save(self.data, self.path)


def _time_durable_save(self, *params):
    self.operations.save(self.data, self.path)
    sync(self.path)


def _peakmem_save(self, *params):
    steps.save(self.cell)


def _track_save_memory(self, *params):
    def save_once():
        if self.meter is None:
            steps.save(self.cell)
        else:
            self.operations.save(self.data, self.path)
            self.meter.note()

    return int(self.cell.noted(steps.SAVE_MEMORY, save_once))


def _track_size(self, *params):
    return steps.proven_size(self.cell)


def _time_read(self, *params):
    self.operations.read(self.path)


def _peakmem_read(self, *params):
    self.load()


def _track_read_memory(self, *params):
    return int(self.cell.noted(steps.READ_MEMORY, self.load))


def _track_held_memory(self, *params):
    return int(self.cell.noted(steps.HELD_MEMORY, self.load))


def _track_loss(self, *params):
    return steps.loss(self.cell, self.path)


# The methods that all families have; a family's operations measure its other metrics.
_METHODS = {
    "time_save": _time_save,
    "time_durable_save": _time_durable_save,
    "peakmem_save": _peakmem_save,
    "track_save_memory": _track_save_memory,
    "track_size": _track_size,
    "time_read": _time_read,
    "peakmem_read": _peakmem_read,
    "track_read_memory": _track_read_memory,
    "track_held_memory": _track_held_memory,
    **{METRICS[family.loss].benchmark: _track_loss for family in suites.FAMILIES.values()},
}


def _tracker(name):
    def track(self, *params):
        path = self.cell.saved()
        cache = getattr(self, "cache", None)
        found = self.operations.track(name, path, cache=cache, budget_seconds=BUDGET_SECONDS)
        return statistics.median(found.repeats)

    return track
