"""Program that writes the valid files of targets: ``python -m tools.fuzz.seeding FOLDER TARGET ...``."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

from tools.fuzz.readers import TARGETS


def main(folder: Path, names: list[str]) -> None:
    """Write each file into a folder of its own."""
    # Of names of HDF5 nodes, and the like.
    warnings.simplefilter("ignore")
    for name in names:
        for file, write in TARGETS[name].seeds.items():
            place = folder / name / file
            place.mkdir(parents=True)
            write(place / file)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
