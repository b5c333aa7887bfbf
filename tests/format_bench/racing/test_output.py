"""The display of a race, on a terminal and elsewhere."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from format_bench.racing.output import RaceDisplay
from tests.format_bench.racing.test_race import World


@pytest.fixture
def raced():
    """Return a function that shows a race on a console and returns the text."""

    def run(**options):
        console = Console(file=io.StringIO(), width=100, height=40, **options)
        world = World(2, number=12)
        with RaceDisplay(console) as display:
            world.race(first=6, budget_seconds=60.0, watch=display).run()
            shown = display._shown()
        console.print(shown)
        return console.file.getvalue()

    return run


def test_a_terminal_shows_who_is_in_and_who_is_out_and_the_time_left(raced):
    text = raced(force_terminal=True, color_system=None)
    assert "still in" in text
    assert "seconds left" in text
    assert "100,000" in text
    assert "rows: F10: its score is at least" in text


def test_elsewhere_each_event_is_a_line(raced):
    lines = raced(force_terminal=False).splitlines()
    rankings = [line for line in lines if " s  1. F" in line]
    assert rankings
    assert any("out on " in line and "its score is at least" in line for line in lines)
    assert all(line.strip() for line in lines[: len(rankings)])
