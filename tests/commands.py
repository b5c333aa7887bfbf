"""The command `format-bench`, in the process of the tests or in one of its own."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout
from io import StringIO
from unittest.mock import patch

from format_bench.cli.main import main
from tests.helpers import ROOT


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run `format-bench` in this process, which saves its imports; return its exit status and output.

    What a command logs, and what its own processes print, is not part of the output.
    """
    command = ["format-bench", *map(str, arguments)]
    output, errors = StringIO(), StringIO()
    status = 0
    with ExitStack() as stack:
        stack.enter_context(chdir(ROOT))
        stack.enter_context(patch.object(sys, "argv", command))
        stack.enter_context(redirect_stdout(output))
        stack.enter_context(redirect_stderr(errors))
        try:
            main(command[1:])
        except SystemExit as ended:
            status = int(ended.code or 0)
    return subprocess.CompletedProcess(command, status, output.getvalue(), errors.getvalue())


def run_apart(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run `format-bench` in a process of its own; return its exit status and output.

    For tests of its environment variables, or of what it logs.
    """
    command = [sys.executable, "-W", "error", "-m", "format_bench", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
