"""Display while data are read: at first nothing, one line in place on a terminal, few elsewhere."""

from __future__ import annotations

import io

from rich.console import Console

from format_bench.runner.reading_display import ReadingDisplay

SECONDS = [0.5, 1.2, 59, 60, 61, 119, 121, 130, 250]


def shown(*seconds: float, is_terminal: bool) -> str:
    out = io.StringIO()
    console = Console(file=out, force_terminal=is_terminal, width=80, highlight=False, markup=False)
    with ReadingDisplay(console, "my\x1b.csv") as display:
        for each in seconds:
            display(each)
    return out.getvalue()


def test_a_pipe_gets_a_line_each_time_the_time_has_doubled():
    lines = [f"reading my\N{REPLACEMENT CHARACTER}.csv: {each} s\n" for each in (60, 121, 250)]
    assert shown(*SECONDS, is_terminal=False) == "".join(lines)


def test_a_terminal_gets_a_line_after_a_second_and_it_goes_away():
    assert shown(0.5, is_terminal=True) == ""
    found = shown(0.5, 1.2, is_terminal=True)
    assert "reading my\N{REPLACEMENT CHARACTER}.csv: 1 s" in found
    erase_line = "\x1b[2K"
    assert found.endswith(erase_line)
