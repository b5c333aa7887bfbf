"""Ends by signals: when they interrupt, and whom."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from format_bench.system.signals import EndingSignals

FORK = """
import os, signal
from format_bench.system.signals import EndingSignals

with EndingSignals():
    reader, writer = os.pipe()
    process = os.fork()
    if not process:
        try:
            os.write(writer, b"1")
            signal.pause()
        finally:
            os._exit(0)
    os.read(reader, 1)
    os.kill(process, signal.SIGTERM)
    _, status = os.waitpid(process, 0)
print(os.WTERMSIG(status))
"""


CHILDREN = """
import subprocess
from format_bench.system.signals import end_children

with (
    subprocess.Popen(["sleep", "60"]) as child,
    subprocess.Popen(["sleep", "60"], start_new_session=True) as daemon,
):
    end_children()
    print(child.wait(10), daemon.poll())
    daemon.kill()
"""


@pytest.fixture
def signals():
    with EndingSignals() as found:
        yield found


def test_the_first_signal_interrupts_and_those_of_the_clean_up_do_not(signals):
    with pytest.raises(KeyboardInterrupt, match="SIGTERM"):
        signal.raise_signal(signal.SIGTERM)
    signal.raise_signal(signal.SIGHUP)
    assert signals.last is signal.SIGTERM


def test_a_signal_waits_for_the_end_of_a_block(signals):
    done = []

    def end_within():
        with signals.held():
            with signals.held():
                signal.raise_signal(signal.SIGTERM)
                done.append("inner")
            done.append("outer")

    with pytest.raises(KeyboardInterrupt, match="SIGTERM"):
        end_within()
    assert done == ["inner", "outer"]
    with signals.held():
        pass


def test_earlier_handlers_come_back():
    before = signal.getsignal(signal.SIGTERM)
    with EndingSignals():
        assert signal.getsignal(signal.SIGTERM) != before
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_fork_ends_at_once():
    # In a new process: libraries of other tests warn where their threads are forked.
    done = subprocess.run(
        [sys.executable, "-c", FORK], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout == f"{signal.SIGTERM:d}\n", done.stderr


def test_children_end_unless_they_left_the_session():
    # In a new process: servers of other tests are children of this one.
    done = subprocess.run(
        [sys.executable, "-c", CHILDREN], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout == f"{-signal.SIGTERM:d} None\n", done.stderr
