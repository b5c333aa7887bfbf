"""Runs of asv's suites on a commit, and the description of this machine to asv.

Suites run one by one: asv writes its results when a run ends, so a kill loses one suite at most.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from adapter_core import FormatBenchError
from adapter_core.errors import DamagedStateError
from adapter_core.files import content_of

# Exit statuses of asv after which results are complete; 2 if some benchmark has failed.
SUCCESSFUL = (0, 2)


def suite_names(root: Path) -> list[str]:
    """Return the suites of a checkout, in order of name."""
    return sorted(path.stem for path in (root / "benchmarks").glob("[!_]*.py"))


def run_suite(  # noqa: PLR0913 (options of one command)
    suite: str,
    commit: str,
    config: str,
    *,
    root: Path,
    python: str = sys.executable,
    append_samples: bool = False,
    labels: Sequence[str] = (),
    variables: Mapping[str, str] | None = None,
    output: IO[str] | None = None,
    descriptors: Sequence[int] = (),
) -> int:
    """Run a suite on a commit, and return asv's exit status.

    Parameters
    ----------
    suite : str
        Its name, e.g. "tabular".
    commit : str
        The commit.
    config : str
        asv's configuration file.
    root : Path
        The folder to run asv in.
    python : str
        The interpreter that asv is installed for; relative to `root`, or absolute.
    append_samples : bool
        Add samples to those that the commit has, instead of measuring only benchmarks without a value.
    labels : sequence of str
        Formats to measure, all of their cells; by default all that lack a value.
    variables : mapping, optional
        Further environment variables.
    output : file, optional
        File for asv's output; by default this process'.
    descriptors : sequence of int
        Descriptors that asv's processes inherit, e.g. of a lock, which then lasts as long as they do.
    """
    # All samples are kept, since intervals and ties are computed from them.
    command = [python, "-m", "asv", "run", "--config", config, "--record-samples"]
    if append_samples:
        command += ["--append-samples"]
    elif not labels:
        # Of formats that were not selected asv has NaN, as of skipped ones, which counts as successful.
        command += ["--skip-existing-successful"]
    # asv compares names like "tabular.Tabular.time_save('CSV', 'eq')".
    chosen = rf"[^(]+\('({'|'.join(map(re.escape, labels))})'[,)]" if labels else ""
    command += ["--bench", rf"^{suite}\.{chosen}", f"{commit}^!"]
    done = subprocess.run(  # noqa: S603 (the arguments are our own)
        command,
        cwd=root,
        env={**os.environ, **(variables or {})},
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=None if output is None else subprocess.STDOUT,
        pass_fds=tuple(descriptors),
        check=False,
    )
    return done.returncode


def machine_name(root: Path, results_dir: Path, python: str = sys.executable) -> str:
    """Return asv's name for this machine, and describe the machine to asv if that was not done.

    Parameters
    ----------
    root : Path
        The folder of asv.conf.json.
    results_dir : Path
        asv's results, whose description of this machine is taken over if asv lacks one.
    python : str
        The interpreter that asv is installed for; relative to `root`, or absolute.

    Raises
    ------
    FormatBenchError
        If asv is not installed, or cannot describe the machine.
    """
    try:
        from asv.machine import Machine, MachineCollection
        from asv.util import UserError
    except ImportError as error:
        raise FormatBenchError('asv is not installed; try: pip install "formatbench[site]"') from error
    unique: str = Machine.get_unique_machine_name()
    try:
        facts = MachineCollection.load(unique)
    except UserError:
        earlier = results_dir / unique / "machine.json"
        if earlier.exists():
            # asv draws a graph for each description, so a new kernel would start all graphs anew.
            with content_of(earlier, DamagedStateError, "describes no machine; remove it"):
                facts = json.loads(earlier.read_text(encoding="utf-8"))
                del facts["version"]
            MachineCollection.save(unique, facts)
        else:
            _describe_machine(root, python)
            facts = MachineCollection.load(unique)
    name: str = facts["machine"]
    return name


def _describe_machine(root: Path, python: str) -> None:
    command = [python, "-m", "asv", "machine", "--yes"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)  # noqa: S603 (our own arguments)
    if done.returncode:
        reason = done.stderr.strip().rpartition("\n")[2] or f"status {done.returncode}"
        raise FormatBenchError(f"asv cannot describe this machine: {reason}")
