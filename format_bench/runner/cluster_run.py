"""Run on a cluster, from the request to the records, and its plan: cells, workers and expected hours."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from adapter_core.errors import InvalidRequestError
from data_generator.user.load import fingerprint
from format_bench.clusters.connection import connect
from format_bench.metadata.machine import described
from format_bench.results.display.text import plural
from format_bench.results.load import RESULTS
from format_bench.results.records import Record
from format_bench.runner import folders, time_budget
from format_bench.runner.cell_process import SharedData, WorkerSetup
from format_bench.runner.cluster_ledger import ClusterRun, measured_seconds
from format_bench.runner.cluster_session import ClusterSession
from format_bench.runner.executor import TimeBudget
from format_bench.runner.media import Scratch
from format_bench.runner.plan import RunRequest, steps_of
from format_bench.runner.session import cases_of, limits_of
from format_bench.runner.user_data import Prepared, prepare


@contextmanager
def session_of(  # noqa: PLR0913 (a request, a cluster, and who follows the run)
    request: RunRequest,
    where: str,
    machines: tuple[str, ...],
    say: Callable[[str], None],
    *,
    on_own: Callable[[Prepared], None],
    on_record: Callable[[Record], None],
    plan_only: bool = False,
) -> Iterator[ClusterSession]:
    """Give the session of a request on a cluster; the folder of results is locked for as long.

    Parameters
    ----------
    request : RunRequest
        The run as the user asks for it. Its scratch folders and its data are on the workers.
    where : str
        The cluster, as `format_bench.clusters.connection.connect` takes it.
    machines : tuple of str
        Beginnings of the fingerprints of machines that take part; none for all.
    say, on_own, on_record : callable
        Called with lines on the progress, with the user's own data before anything is measured, and with
        each record when it is on disk.
    plan_only : bool
        Leave the folder of results as it is.

    Raises
    ------
    FormatBenchError
        If that cannot be, in one line.
    """
    if plan_only and request.fresh:
        raise InvalidRequestError("--plan with --fresh: a plan discards nothing")
    own = _own(request)
    cases, fingerprints = cases_of(request, own, _media(request), say)
    steps = frozenset(steps_of(request, cases))
    out, setup, limits = request.out, _setup(request, own), limits_of(request)

    def session(run_id: str) -> ClusterSession:
        run = ClusterRun(run_id, cases, limits, steps, out, setup, machines)
        return ClusterSession(client, run, say, on_record)

    with connect(where) as client:
        if plan_only:
            is_new = not (out / RESULTS).exists() and not (out / folders.CLUSTER_ID).exists()
            yield session("plan" if is_new else folders.cluster_id(out))
            return
        # Only now: --fresh must not remove results for a cluster that does not answer.
        folders.open_results(out, fresh=request.fresh)
        with folders.only_run(out):
            run_id = folders.cluster_id(out)
            if fingerprints:
                folders.check_same_data(out, fingerprints)
            for each in own:
                on_own(each)
            yield session(run_id)


def measured(session: ClusterSession) -> ClusterSession:
    """Measure a session's cells; return it, or with a time budget its second part.

    With a time budget, all cases are measured on a sample of the rows first, then on all rows, the
    cheapest first.

    Raises
    ------
    ClusterError
        As `ClusterSession.measure`.
    """
    run, budget = session.run, TimeBudget(session.run.limits.time_budget_seconds)
    if not math.isinf(budget.seconds):
        hosts, cases = session.hosts, len(run.cases)
        if samples := time_budget.sampled(run.cases):
            limits = time_budget.sample_limits(budget.seconds, cases, hosts)
            sampler = session.of(replace(run, cases=samples, limits=limits))
            sampler.measure()
            estimated = time_budget.costs(run.cases, samples, sampler.records)
            in_order = time_budget.cheapest_first(run.cases, estimated)
            run = replace(run, cases=in_order, samples=samples)
        left = replace(run.limits, time_budget_seconds=budget.left_seconds)
        limits = time_budget.shared(left, cases, len(run.steps), hosts)
        session = session.of(replace(run, limits=limits))
    session.measure()
    return session


def _own(request: RunRequest) -> list[Prepared]:
    """Return the user's data set as it is here; the workers read it themselves.

    Raises
    ------
    InvalidRequestError
        If there are several.
    """
    if not request.user_data:
        return []
    if len(request.user_data) > 1:
        raise InvalidRequestError("--data: on a cluster, one data set at a time")
    with folders.make(folders.check_scratch(None)) as folder:
        source, asked = request.user_data[0], request.questions
        return [prepare(source, folder, questions=asked, suite=request.suite)]


def _media(request: RunRequest) -> list[str]:
    """Return the names of the media to compare.

    Raises
    ------
    InvalidRequestError
        If one has no name: its folder is on the workers, so it cannot be found out here.
    """
    for scratch in request.media:
        if not scratch.medium:
            folder = scratch.folder
            raise InvalidRequestError(f"--scratch {folder}: on a cluster, name it, as in ssd={folder}")
    return [scratch.medium for scratch in request.media]


def _setup(request: RunRequest, own: Sequence[Prepared]) -> WorkerSetup:
    """Return the setup that a run needs of each worker."""
    scratches = request.media or tuple(Scratch(folder) for folder in [request.scratch] if folder)
    shared = None
    for source, each in zip(request.user_data, own, strict=True):
        # Workers have other working directories.
        there = replace(source, path=str(Path(source.path).absolute()))
        shared = SharedData(there, each.fingerprint, fingerprint(source.path))
    policies = set(request.conditions.get("threads", ("all",)))
    if len(policies) > 1:
        # The metadata that a worker sends are of one policy.
        raise InvalidRequestError("--threads: on a cluster, one policy at a time")
    return WorkerSetup(scratches, "1" if policies == {"1"} else "all", shared)


def plan_lines(session: ClusterSession) -> Iterator[str]:
    """Yield the lines of the plan of a run: the cells left on each kind of machine, and their duration.

    The expected time comes from the log of earlier runs in the folder: the cells that have been
    measured there, on machines of the same kind or else of any, divided by the hosts. Data are not
    generated, and nothing is measured.
    """
    session.describe_all()
    run, workers = session.run, [worker for worker, _ in session.workers.values()]
    rounds = run.limits.rounds
    cases, cells = plural(len(run.cases), "case"), plural(len(run.cases) * rounds, "cell")
    yield f"{cases} in {plural(rounds, 'round')}, {cells} on each kind of machine"
    known = measured_seconds(run.out / folders.CLUSTER_LOG)
    for mark, number in sorted(Counter(each.machine for each in workers).items()):
        hosts = len({each.host for each in workers if each.machine == mark})
        words = described(session.machines[mark].metadata)
        yield f"machine {mark}: {words}; {plural(number, 'worker')} on {plural(hosts, 'host')}"
        yield f"  {session.ledgers[mark].expected(known, hosts)}"
    for address, reason in session.left_out.items():
        yield f"left out: {address}: {reason}"
