"""The dispatcher: who measures what next, when workers come, go and die."""

from __future__ import annotations

from dataclasses import replace

import pytest

from format_bench.clusters.dispatching import Abandonment, Dispatcher, Task, Worker
from format_bench.studies.schedule import Setting, Simulation
from tests.commands import run

ONE, TWO, OTHER = Worker("one", "a", "m"), Worker("two", "b", "m"), Worker("other", "b", "n")


def task(case: int, number: int = 1, machine: str = "m") -> Task:
    return Task(machine, number, case)


def opened(cases: int = 3, **settings: int) -> Dispatcher:
    return Dispatcher(lambda _: dict.fromkeys(range(cases), 1), **settings)


def joined(dispatcher: Dispatcher, worker: Worker) -> list[tuple[Worker, Task]]:
    dispatcher.join(worker)
    return dispatcher.assignments()


def finished(
    dispatcher: Dispatcher, worker: Worker, done: Task, next_round: int | None = None
) -> list[tuple[Worker, Task]]:
    dispatcher.finish(worker, done, next_round)
    return dispatcher.assignments()


def test_first_rounds_come_before_second_ones():
    dispatcher = opened(2)
    order, assigned = [], joined(dispatcher, ONE)
    while assigned:
        ((worker, found),) = assigned
        assert worker == ONE
        order.append((found.number, found.case))
        assigned = finished(dispatcher, ONE, found, 2 if found.number == 1 else None)
    assert order == [(1, 0), (1, 1), (2, 0), (2, 1)]
    assert dispatcher.is_done
    dispatcher.join(OTHER)
    assert not dispatcher.is_done  # the other machine has not measured
    assert dispatcher.waiting_machines == ["n"]


def test_workers_of_one_host_take_turns_and_each_measures_for_its_machine():
    dispatcher = opened()
    assert joined(dispatcher, TWO) == [(TWO, task(0))]
    assert joined(dispatcher, OTHER) == []
    assert finished(dispatcher, TWO, task(0)) == [(OTHER, task(0, machine="n"))]
    assert finished(dispatcher, OTHER, task(0, machine="n")) == [(TWO, task(1))]


def test_a_dead_workers_cell_goes_to_another_until_it_has_failed_often_enough():
    dispatcher = opened(1, max_attempts=2)
    joined(dispatcher, ONE)
    assert joined(dispatcher, TWO) == []
    assert dispatcher.leave(ONE, "was lost") is None
    assert dispatcher.assignments() == [(TWO, task(0))]
    sentence = "no worker finished it in 2 attempts: one was lost; two was lost"
    assert dispatcher.leave(TWO, "was lost") == Abandonment(task(0), sentence)


def test_a_stopped_run_waits_for_what_runs_and_assigns_nothing_else():
    dispatcher = opened()
    joined(dispatcher, ONE)
    joined(dispatcher, TWO)
    dispatcher.is_stopped = True
    assert finished(dispatcher, ONE, task(0), 2) == []
    assert not dispatcher.is_done
    dispatcher.leave(TWO, "was lost")
    assert dispatcher.assignments() == []
    assert dispatcher.is_done


def test_a_worker_that_cannot_measure_gets_no_more():
    dispatcher = opened()
    joined(dispatcher, ONE)
    assert dispatcher.leave(ONE, "has a full disk") is None
    assert dispatcher.assignments() == []
    assert joined(dispatcher, TWO) == [(TWO, task(0))]
    assert finished(dispatcher, ONE, task(0)) == []  # too late
    assert dispatcher.running == {TWO: task(0)}


def test_an_adopted_cell_is_not_given_to_another():
    dispatcher = opened()
    dispatcher.join(TWO, task(0))
    assert joined(dispatcher, ONE) == [(ONE, task(1))]
    assert joined(dispatcher, OTHER) == []  # its host is busy
    assert finished(dispatcher, TWO, task(0)) == [(OTHER, task(0, machine="n"))]


@pytest.mark.parametrize("seed", range(2))
def test_nothing_is_lost_or_measured_twice_on_500_simulated_workers(seed):
    found = Simulation(Setting(seed=seed)).run()
    assert found.wrong == []
    assert (found.lost, found.measured_twice) == (0, 0)
    # Two cases kill every worker, on two kinds of machines, in their first of two rounds.
    assert (found.abandoned, found.left_out) == (4, 4)
    assert found.recorded == found.measured == 10_000 - 8
    assert min(found.deaths, found.broken, found.kept, found.adopted) > 0
    assert found.client_kills == 4


def test_the_simulation_notices_a_dispatcher_that_forgets_an_adopted_cell(monkeypatch):
    join = Dispatcher.join

    def forgetful(dispatcher: Dispatcher, worker: Worker, task: Task | None = None) -> None:
        if task is None:
            join(dispatcher, worker)

    monkeypatch.setattr(Dispatcher, "join", forgetful)
    found = Simulation(replace(Setting(), cells=2_000, workers=100, shared_hosts=10)).run()
    assert found.measured_twice > 0


def test_the_study_prints_a_table_of_the_counts():
    done = run("study", "schedule", "--cells", 400, "--workers", 20)
    assert done.returncode == 0, done.stderr
    rows = dict(line.strip("| ").split(" | ") for line in done.stdout.splitlines()[2:])
    assert (rows["cells"], rows["**lost**"], rows["**finished twice**"]) == ("400", "0", "0")
