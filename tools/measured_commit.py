"""Wheel and installation of a commit that asv measures, for the Python that runs this.

measured_commit.py build SOURCE FOLDER; measured_commit.py install CONSTRAINTS PACKAGE...

uv takes a tenth of pip's time to install, since it links the files that `make environment` has unpacked,
and a third of it to build. pip does both where uv, or an index that uv knows, is missing.
"""

import subprocess
import sys
from pathlib import Path

UV = Path(__file__).resolve().parents[1] / ".venv" / "bin" / "uv"
PIP = [sys.executable, "-m", "pip"]


def main() -> None:
    """Build or install by uv, else by pip."""
    action, first, *others = sys.argv[1:]
    if action == "build":
        by_uv = ["build", "--wheel", "--python", sys.executable, "--out-dir", *others, first]
        by_pip = ["wheel", "--no-deps", "--wheel-dir", *others, first]
    else:
        by_uv = ["pip", "install", "--python", sys.executable, "--constraint", first, *others]
        by_pip = ["install", "--no-compile", "--constraint", first, *others]
    commands = [[str(UV), *by_uv]] if UV.exists() else []
    for command in [*commands, [*PIP, *by_pip]]:
        status = subprocess.run([*command, "--quiet"], check=False).returncode
        if status == 0:
            return
    sys.exit(status)


if __name__ == "__main__":
    main()
