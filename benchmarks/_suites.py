"""asv's classes of a suite, made from its declaration in the checkout.

asv addresses cases by index, so parameters must not come from the installed package: an older commit
with fewer formats would store its values under other formats' names. The declarations are therefore
read from the checkout's own files.
"""

import contextlib
import dataclasses
import importlib.util
import os
import statistics
import sys
import time
from pathlib import Path

from asv_runner.benchmarks import peakmem as asvs_peakmem

from format_bench.asv_support.cell import CellRun
from format_bench.asv_support.run import prepare_data
from format_bench.instruments.clock import MAX_REPEATS, Effort
from format_bench.results.status import CellStatus

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

LIMIT_SECONDS = suites.LIMIT_SECONDS[SCALE]

# Seconds for the repeats of a process instead of the suite's: 0 has one call of each.
BUDGET_SECONDS = os.environ.get("FORMAT_BENCH_BUDGET_SECONDS")

# First and last time, in seconds since 1970, at which a step of a cell may begin.
FIRST, LAST = map(float, os.environ.get("FORMAT_BENCH_PERIOD", "0 inf").split())

SPENT = "not measured: the suite's hours of this monthly run were spent; it comes first in the next one"

if sys.argv[1:2] != ["discover"]:  # the command of asv's process that only lists the benchmarks
    with contextlib.suppress(Exception):
        # Before asv's server forks hundreds of processes.
        import format_bench.families.preloaded  # noqa: F401


def prepare(suite):
    """Generate the data sets of a suite, once for all its classes; for `setup_cache`."""
    declared = suites.SUITES[suite]
    at_scale = dataclasses.replace(declared, datasets=declared.datasets_at(SCALE))
    prepare_data(_family(suite), at_scale, SCALE)


def labels(suite):
    """Return the labels of the adapters that the checkout has for a suite."""
    return suites.SUITES[suite].labels(declarations(ROOT / _family(suite).folder))


def benchmarks_of(suite):
    """Return asv's classes of a suite by name, for the namespace of its module."""
    declared = suites.SUITES[suite]
    return {each.name: _class_of(declared, each) for each in declared.benchmarks}


def _family(suite):
    return suites.FAMILIES[suites.SUITES[suite].family]


def _class_of(suite, benchmark):
    """Return a class with a method for each metric, under its own parameters."""
    axes = {
        "codec": [] if benchmark.settings else list(suite.codecs_at(SCALE)),
        "track": []
        if benchmark.track
        else [each.name for each in suite.tracks if not each.for_own_questions],
        "query": list(benchmark.queries),
        "cache": list(benchmark.caches),
    }
    axes = {name: values for name, values in axes.items() if values}
    datasets = benchmark.datasets or suite.datasets_at(SCALE)
    formats = [name for name in labels(suite.name) if name in (benchmark.formats or [name])]
    sampling = suite.sampling[SCALE]
    members = {
        "__doc__": f"{suite.title}: {', '.join(benchmark.metrics)}.",
        "params": (formats, list(datasets), *axes.values()),
        "param_names": (_family(suite.name).parameter, "dataset", *axes),
        # Values of one scale never continue the line of another.
        "version": f"{suite.version} {SCALE}",
        "timeout": LIMIT_SECONDS + 30,
        "repeat": (1, MAX_REPEATS, sampling.budget_seconds),
        "rounds": sampling.rounds,
        "number": 1,
        "warmup_time": 0,
        "min_run_count": 1,
    }
    for name in benchmark.metrics:
        metric = METRICS[name]
        kind = metric.benchmark.partition("_")[0]
        method = _METHODS[kind](MetricState(suite, benchmark, metric))
        method.__name__ = method.__qualname__ = metric.benchmark
        method.pretty_name = f"{suite.prefix}: {metric.pretty}"
        if benchmark.settings:
            method.pretty_name += f", {benchmark.settings}"
        if kind == "track":
            method.unit = metric.unit
        members[metric.benchmark] = method
    return type(benchmark.name, (), members)


class MetricState:
    """State of one benchmark method in its process."""

    def __init__(self, suite, benchmark, metric):
        self.suite, self.benchmark, self.metric = suite, benchmark, metric
        self.samples = None

    def run_of(self, params):
        """Return the cell of these parameters."""
        family = _family(self.suite.name)
        own = {"settings": self.benchmark.settings} if self.benchmark.settings else {}
        return CellRun(family, self.suite, self.benchmark.name, params, SCALE, LIMIT_SECONDS, **own)

    def measure(self, params, *, of_all_rounds=False):
        """Have the metric measured, or take the samples of a process that measured it with others."""
        *others, last = params
        cache, others = (last, others) if self.benchmark.caches else (None, params)
        query = others[-1] if self.benchmark.queries else ""
        # asv calls setup before each sample.
        if self.samples is None:
            sampling = self.suite.sampling[SCALE]
            budget_seconds = float(BUDGET_SECONDS or sampling.budget_seconds)
            run = self.run_of(params)
            # Of a cell that a later round skips, asv forgets the earlier ones: a step that began goes
            # on, so each round leaves each of the later ones as much time as it takes.
            step = self.metric.name, cache
            passed = sampling.rounds - 1 if of_all_rounds else run.times_put_off(*step)
            until = FIRST + (LAST - FIRST) * min(1, (passed + 1) / sampling.rounds)
            if time.time() > until and not run.is_begun(*step):
                run.put_off(*step)
                raise run.skip(CellStatus.UNAVAILABLE, NotImplementedError(SPENT))
            effort = Effort(budget_seconds, min_repeats=1, limit_seconds=LIMIT_SECONDS / 2)
            what = self.metric.name, cache, effort, query
            self.samples = (
                run.all_samples(*what, rounds=sampling.rounds) if of_all_rounds else run.samples(*what)
            )


class ReplayTimer:
    """Timer that gives asv the samples of our clock, one for each pair of calls.

    asv stops by count and time; our loop stops when the median is known, takes saves and durable saves
    from the same calls, and measures as the command line does.
    """

    def __init__(self, samples):
        self._times = (time for sample in samples for time in (0.0, sample))

    def __call__(self):
        return next(self._times)


def _time(state):
    def time(self, *params):
        """Do nothing: `setup` has measured."""

    def setup(first, *others):  # asv calls a setup without parameters before `setup_cache`
        new = state.samples is None
        state.measure((first, *others))
        if new:
            # asv reads them after setup.
            time.repeat, time.timer = len(state.samples), ReplayTimer(state.samples)

    time.setup = setup
    return time


def _track(state):
    def track(self, *params):
        return statistics.median(state.samples)

    def setup(first, *others):
        state.measure((first, *others), of_all_rounds=True)

    track.setup = setup
    return track


def _peakmem(state):
    """Return a method whose value is the peak that the measuring processes have noted.

    asv would measure it in a process of its own, which imports, loads and saves once more.
    """

    def peakmem(self, *params):
        asvs_peakmem.get_maxrss = lambda: round(statistics.median(state.samples))

    def setup(first, *others):
        state.measure((first, *others), of_all_rounds=True)

    peakmem.setup = setup
    return peakmem


_METHODS = {"time": _time, "track": _track, "peakmem": _peakmem}
