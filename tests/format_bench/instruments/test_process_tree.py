"""Costs of a process and those that it has started."""

from __future__ import annotations

import os
import subprocess
import sys

from format_bench.instruments import process_tree

BUSY = "sum(range(5_000_000)); memory = b'x' * 300_000_000; print(1, flush=True); input()"


def test_children_count_while_they_live_and_after():
    before = process_tree.cost().cpu_seconds
    memory_before = process_tree.proportional_bytes()
    with subprocess.Popen(
        [sys.executable, "-c", BUSY], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        child.stdout.readline()
        assert child.pid in {each.pid for each in process_tree.descendants(os.getpid())}
        alive = process_tree.cost().cpu_seconds
        assert alive > before
        # This process may give memory back meanwhile.
        assert process_tree.proportional_bytes() > memory_before + 150_000_000
        child.communicate(b"\n")
    assert process_tree.cost().cpu_seconds >= alive
    assert process_tree.descendants(child.pid) == []


def test_processes_that_go_on_are_killed_and_counted():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        (found,) = (each for each in process_tree.descendants(os.getpid()) if each.pid == child.pid)
        assert process_tree.end_of([found], 0.1) == 1
        assert child.wait() == -9
    assert process_tree.end_of([found]) == 0
