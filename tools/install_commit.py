"""Installation of a commit that asv measures, into the Python that runs this: CONSTRAINTS PACKAGE...

uv takes a tenth of pip's time, since it links the files that `make environment` has unpacked. pip does
it where uv, or an index that uv knows, is missing.
"""

import subprocess
import sys
from pathlib import Path


def main() -> None:
    """Install by uv, else by pip."""
    constraints, *packages = sys.argv[1:]
    uv = Path(__file__).resolve().parents[1] / ".venv" / "bin" / "uv"
    pip = [sys.executable, "-m", "pip", "install", "--no-compile"]
    commands = [[str(uv), "pip", "install", "--python", sys.executable]] if uv.exists() else []
    for command in [*commands, pip]:
        wanted = [*command, "--quiet", "--constraint", constraints, *packages]
        status = subprocess.run(wanted, check=False).returncode
        if status == 0:
            return
    sys.exit(status)


if __name__ == "__main__":
    main()
