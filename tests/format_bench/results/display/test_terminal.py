"""Tables and paragraphs, on terminals of any width and in files."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console
from rich.text import Text

from format_bench.results.display import terminal
from format_bench.results.display.text import format_ratio

HEADER = ["format", *(f"durable save time ({n})" for n in range(9))]
ROWS = [["Parquet zstd 1", *(f"{n}.5" for n in range(9))], ["ORC", *["1,234"] * 9]]


def test_text_of_users_does_not_command_the_terminal(capsys):
    evil = "a\x1b[31mb\x9bc\u202ed\x07\ne\u00a0f"
    shown = "a\ufffd[31mb\ufffdc\ufffdd"  # rich itself drops the bell
    to = terminal.console()
    terminal.table(to, evil, [evil, "y"], [[evil, Text(evil, "bold")]])
    to.print(evil, Text(evil))
    printed = capsys.readouterr().out
    assert printed.count(shown) == 6
    assert not set(printed) & set("\x1b\x9b\u202e\x07")
    assert "e\u00a0f" in printed


def printed(width: int, *, to_terminal: bool) -> str:
    output = io.StringIO()
    console = Console(file=output, width=width, force_terminal=to_terminal, color_system=None)
    terminal.table(console, "title", HEADER, ROWS)
    return output.getvalue()


@pytest.mark.parametrize("width", [50, 80, 200])
def test_no_word_is_cut_off_on_a_narrow_terminal(width):
    text = printed(width, to_terminal=True)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    assert {f"{n}.5" for n in range(9)} <= set(text.split())
    parts = text.count("Parquet zstd 1")
    assert (parts > 1) is (width < 200)


def test_a_file_has_one_line_a_row_without_drawings():
    lines = printed(terminal.FILE_WIDTH, to_terminal=False).splitlines()
    assert len(lines) == 4
    assert re.split(r"  +", lines[2].strip())[1:3] == ["0.5", "1.5"]
    assert all(line.isascii() for line in lines)


def test_words_longer_than_a_line_stay_whole(capsys):
    path = "/" + "x" * 100
    terminal.prose(terminal.console(), f"there is nothing at {path} to see")
    assert path in capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0123, "0.0123"), (1, "1.00"), (9.994, "9.99"), (12.34, "12.3"), (1234.5, "1,234")],
)
def test_a_ratio_has_the_significant_digits(value, text):
    assert format_ratio(value) == text
