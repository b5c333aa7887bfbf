"""The commands, as processes of their own."""

from __future__ import annotations

import subprocess
import sys

from tests.conftest import ROOT

_MAIN = "from format_bench.cli.main import main; main()"


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run format-bench with the arguments, and return its status and what it printed."""
    command = [sys.executable, "-W", "error", "-c", _MAIN, *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
