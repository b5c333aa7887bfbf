"""Commands whose reader ends first, as in `format-bench list | head -1`: silent, with status 141."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.helpers import ROOT

RESULTS = ROOT / "tests/data/results_0_1"


def ended(*arguments: object) -> tuple[int, str]:
    """Return status and errors of `format-bench`, whose standard output nobody reads any more."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-W", "error", "-m", "format_bench", *map(str, arguments)]
    try:
        done = subprocess.run(
            command, cwd=ROOT, stdout=writer, stderr=subprocess.PIPE, text=True, check=False
        )
    finally:
        os.close(writer)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["list"],
        ["list", "codecs", "--markdown"],
        ["study", "claims"],
        ["list", "suites", "--json"],
        ["recommend", RESULTS],
        ["compare", RESULTS, RESULTS],
    ],
    ids=lambda arguments: " ".join(arguments[:2]) if isinstance(arguments[-1], str) else arguments[0],
)
def test_a_command_ends_silently(arguments):
    assert ended(*arguments) == (141, "")


def test_an_error_keeps_its_status():
    status, errors = ended("list", "no-such-thing")
    assert status == 2
    assert errors.count("\n") == 1
