"""Package of training loaders with planted faults, found by its entry points."""

from __future__ import annotations

import os
from pathlib import Path

from tests.helpers import ROOT

_TOY = '''
"""A loader with a planted fault."""

import copy
import time
from dataclasses import replace

from adapter_core.training_loader import Feed
from training_loaders.files import Adapter as Files


class Changed(Feed):
    def __init__(self, feed):
        self.feed = feed

    def epoch(self, number, state=None):
        {epoch}

    def state(self):
        return {state}

    def close(self):
        self.feed.close()


class Adapter(Files):
    label = "{label}"
    local_only = ""

    def _open(self, place, feeding):
        {feeding}
        return Changed(super()._open(place, feeding))

    def _open_remote(self, file, feeding):
        from pyarrow import fs

        folder = feeding.cache / "copy"
        fs.copy_files(file.arrow_path, str(folder), file.arrow_file_system(), fs.LocalFileSystem())
        return self._open(folder, feeding)
'''


def _toy(label: str, epoch: str = "", state: str = "self.feed.state()", feeding: str = "") -> str:
    plain = "yield from self.feed.epoch(number, state)"
    return _TOY.format(label=label, epoch=epoch or plain, state=state, feeding=feeding)


_COPIED = "batches = [copy.deepcopy(each) for each in self.feed.epoch(number, state)]"

TOYS = {
    "Fetching": _toy("Fetching"),
    "Doubling": _toy("Doubling", epoch=f"{_COPIED}; yield from [*batches, batches[0]]"),
    "Losing": _toy("Losing", epoch=f"{_COPIED}; yield from batches[:-1]"),
    "Unshuffled": _toy("Unshuffled", feeding="feeding = replace(feeding, seed=None)"),
    "Repetitive": _toy("Repetitive", epoch="yield from self.feed.epoch(0, state)"),
    "Altering": _toy(
        "Altering", epoch=f"{_COPIED}; batches[1]['yaw_iface'][0] += 1; yield from batches"
    ),
    "Forgetful": _toy("Forgetful", state="0"),
    "Unranked": _toy("Unranked", feeding="feeding = replace(feeding, rank=0, world=1)"),
    "Raising": _toy("Raising", epoch="raise ValueError('no samples today')"),
    "Hanging": _toy(
        "Hanging",
        epoch="""try:
            yield from self.feed.epoch(number, state)
        except RuntimeError:
            time.sleep(1000)""",
    ),
}


def install(folder: Path) -> str:
    """Install the loaders into a folder; return the PYTHONPATH of processes that use them."""
    files = {f"toy_loaders/{label.lower()}.py": text for label, text in TOYS.items()}
    entries = [f"{label} = toy_loaders.{label.lower()}:Adapter" for label in TOYS]
    files |= {
        "toy_loaders/__init__.py": "",
        "toy_loaders-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: toy_loaders\nVersion: 1.0\n",
        "toy_loaders-1.0.dist-info/entry_points.txt": "\n".join(
            ["[format_bench.training_loaders]", *entries, ""]
        ),
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return f"{folder}{os.pathsep}{ROOT}"
