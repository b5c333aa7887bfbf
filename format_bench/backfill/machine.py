"""The name of this machine, by which asv tells its graphs apart."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from adapter_core.errors import FormatBenchError


def machine_name(root: Path) -> str:
    """Return asv's name for this machine, which is described to asv unless that was done.

    A description is never renewed: with a new kernel asv would begin new graphs.

    Parameters
    ----------
    root : Path
        The folder of asv.conf.json.

    Raises
    ------
    FormatBenchError
        If asv is not installed.
    """
    try:
        from asv.machine import Machine, MachineCollection
        from asv.util import UserError
    except ImportError as error:
        raise FormatBenchError("asv is not installed; try: python -m pip install .[site]") from error
    unique = Machine.get_unique_machine_name()
    try:
        facts = MachineCollection.load(unique)
    except UserError:
        command = [sys.executable, "-m", "asv", "machine", "--yes"]
        subprocess.run(command, cwd=root, check=True, capture_output=True)  # noqa: S603 (our own arguments)
        facts = MachineCollection.load(unique)
    name: str = facts["machine"]
    return name
