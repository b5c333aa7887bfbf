"""Stand-ins for SLURM's commands, which run a job as processes of this machine."""

from __future__ import annotations

from pathlib import Path

_SBATCH = """#!/bin/bash
# The script is removed after the submission. A session of its own is what `scancel` ends.
jobs=$(dirname "$0")
cp "${@: -1}" "$jobs/$$.sh"
SLURM_SUBMIT_DIR=$PWD SLURM_JOB_ID=$$ setsid bash "$jobs/$$.sh" > "$jobs/$$.log" 2>&1 < /dev/null &
echo $! > "$jobs/$$.job"
echo "Submitted batch job $$"
"""

_SCANCEL = """#!/bin/bash
jobs=$(dirname "$0")
for id; do
    kill -TERM -- "-$(cat "$jobs/$id.job")"
    rm "$jobs/$id.job"
done
"""

_SRUN = """#!/bin/bash
exec "$@"
"""


def install(folder: Path) -> Path:
    """Write `sbatch`, `scancel` and `srun` into a new folder, for the front of PATH; return it.

    Beside them is a file `ID.job` for each job that was submitted and not cancelled.
    """
    folder.mkdir()
    for name, text in (("sbatch", _SBATCH), ("scancel", _SCANCEL), ("srun", _SRUN)):
        path = folder / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
    return folder
