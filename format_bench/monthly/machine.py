"""The name and the parts of this machine, by which asv tells its graphs apart."""

from __future__ import annotations

import json
import platform
import subprocess

from format_bench.monthly.python import PYTHON
from format_bench.monthly.results_folder import folder


def describe(scale: str) -> None:
    """Describe this machine to asv, unless that was done: a new kernel must not begin new graphs.

    A machine that was set up anew takes the description that its earlier results have.
    """
    from asv.machine import MachineCollection
    from asv.util import UserError

    name = platform.node()
    try:
        MachineCollection.load(name)
    except UserError:
        known = folder(scale) / name / "machine.json"
        if known.exists():
            facts = json.loads(known.read_text(encoding="utf-8"))
            del facts["version"]
            MachineCollection.save(name, facts)
        else:
            subprocess.run([PYTHON, "-m", "asv", "machine", "--yes"], check=True)  # noqa: S603
