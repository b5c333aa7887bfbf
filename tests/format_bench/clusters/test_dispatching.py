"""The dispatcher: who measures what next, when workers come, go and die."""

from __future__ import annotations

from dataclasses import replace

import pytest

from format_bench.clusters.dispatching import Abandonment, Assignment, Dispatcher, Task, Worker
from format_bench.clusters.simulation import Setting, Simulation
from tests.helpers import run

ONE, TWO, OTHER = Worker("one", "a", "m"), Worker("two", "b", "m"), Worker("other", "b", "n")


def task(case: int, number: int = 1, machine: str = "m") -> Task:
    return Task(machine, number, case)


def opened(cases: int = 3, **settings: int) -> Dispatcher:
    dispatcher = Dispatcher(**settings)
    for machine in "mn":
        dispatcher.open(machine, dict.fromkeys(range(cases), 1))
    return dispatcher


def test_first_rounds_come_before_second_ones():
    dispatcher = opened(2)
    order, decisions = [], dispatcher.join(ONE)
    while decisions:
        (decision,) = decisions
        assert isinstance(decision, Assignment)
        order.append((decision.task.number, decision.task.case))
        following = 2 if decision.task.number == 1 else None
        decisions = dispatcher.finish(ONE, decision.task, following)
    assert order == [(1, 0), (1, 1), (2, 0), (2, 1)]
    assert not dispatcher.is_done  # the other machine has not measured


def test_workers_of_one_host_take_turns_and_each_measures_for_its_machine():
    dispatcher = opened()
    assert dispatcher.join(TWO) == [Assignment(TWO, task(0))]
    assert dispatcher.join(OTHER) == []
    assert dispatcher.finish(TWO, task(0), None) == [Assignment(OTHER, task(0, machine="n"))]
    assert dispatcher.finish(OTHER, task(0, machine="n"), None) == [Assignment(TWO, task(1))]


def test_a_dead_workers_cell_goes_to_another_until_it_has_failed_often_enough():
    dispatcher = opened(1, max_attempts=2)
    dispatcher.join(ONE)
    assert dispatcher.join(TWO) == []
    assert dispatcher.leave(ONE, "was lost") == [Assignment(TWO, task(0))]
    sentence = "no worker finished it in 2 attempts: one was lost; two was lost"
    assert dispatcher.leave(TWO, "was lost") == [Abandonment(task(0), sentence)]


def test_a_stopped_run_waits_for_what_runs_and_assigns_nothing_else():
    dispatcher = opened()
    dispatcher.join(ONE)
    dispatcher.join(TWO)
    dispatcher.stop()
    assert dispatcher.finish(ONE, task(0), 2) == []
    assert not dispatcher.is_done
    assert dispatcher.leave(TWO, "was lost") == []
    assert dispatcher.is_done


def test_a_worker_that_cannot_measure_gets_no_more():
    dispatcher = opened()
    dispatcher.join(ONE)
    assert dispatcher.fail(ONE, task(0), "has a full disk") == []
    assert dispatcher.set_aside == {ONE: "has a full disk"}
    assert dispatcher.join(TWO) == [Assignment(TWO, task(0))]
    assert dispatcher.finish(ONE, task(0), None) == []  # too late


def test_an_adopted_cell_is_not_given_to_another():
    dispatcher = opened()
    dispatcher.adopt(TWO, task(0))
    assert dispatcher.join(ONE) == [Assignment(ONE, task(1))]
    assert dispatcher.join(OTHER) == []  # its host is busy
    assert dispatcher.finish(TWO, task(0), None) == [Assignment(OTHER, task(0, machine="n"))]


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
    monkeypatch.setattr(Dispatcher, "adopt", lambda *_: None)
    found = Simulation(replace(Setting(), cells=2_000, workers=100, shared_hosts=10)).run()
    assert found.measured_twice > 0


def test_the_study_prints_a_table_of_the_counts():
    done = run("study", "schedule", "--cells", 400, "--workers", 20)
    assert done.returncode == 0, done.stderr
    rows = dict(line.strip("| ").split(" | ") for line in done.stdout.splitlines()[2:])
    assert (rows["cells"], rows["**lost**"], rows["**finished twice**"]) == ("400", "0", "0")
