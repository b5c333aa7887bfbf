"""Library sets for tests: environments with these libraries, under other versions' names."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path


def make_library_set(folder: Path, ran: Path) -> None:
    """Make an environment with these libraries, that leaves a file when it runs; pandas is older."""
    packages = folder / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
    (packages / "pandas-0.0.1.dist-info").mkdir(parents=True)
    (packages / "pandas-0.0.1.dist-info" / "METADATA").write_text("Name: pandas\nVersion: 0.0.1\n")
    (packages / "others.pth").write_text(sysconfig.get_path("purelib"))
    (packages / "sitecustomize.py").write_text(f"open({str(ran)!r}, 'a').write('ran ')")
    python = Path(sys.executable).resolve()
    (folder / "pyvenv.cfg").write_text(f"home = {python.parent}\nversion = 3.11.0\n")
    (folder / "bin").mkdir()
    (folder / "bin" / "python").symlink_to(python)
