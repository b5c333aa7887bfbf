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
    match sys.argv[1:]:
        case ["build", source, folder]:
            by_uv = ["build", "--wheel", "--out-dir", folder, source]
            by_pip = ["wheel", "--no-deps", "--wheel-dir", folder, source]
        case ["install", constraints, *packages]:
            by_uv = ["pip", "install", "--constraint", constraints, *packages]
            by_pip = ["install", "--no-compile", "--constraint", constraints, *packages]
        case _:
            print(__doc__, file=sys.stderr)
            sys.exit(2)
    commands = [[str(UV), *by_uv, "--python", sys.executable]] if UV.exists() else []
    for command in [*commands, [*PIP, *by_pip]]:
        status = subprocess.run([*command, "--quiet"], check=False).returncode
        if status == 0:
            return
    sys.exit(status)


if __name__ == "__main__":
    main()
