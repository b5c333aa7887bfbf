"""A folder with a file for each value of a sample, as most trainings begin, read by a plain loop."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import RemoteFile
from adapter_core.training.files import FilesLoader, FilesReader, ObjectsReader
from adapter_core.training.loop import LoopFeed

if TYPE_CHECKING:
    from adapter_core.training_loader import Feed, Feeding


class Adapter(FilesLoader):
    """A file for each picture, array and text of a sample, and a JSON file for its numbers.

    Workers read the files of a batch one by one, in the order of a full shuffle; from a server, those of
    16 samples at a time.
    """

    label = "Files[loop]"
    requires = ("numpy",)
    local_only = ""
    remote_requires: ClassVar = ("obstore",)

    def _open(self, folder: Path, feeding: Feeding) -> Feed:
        return LoopFeed(partial(FilesReader, folder), feeding)

    def _open_remote(self, file: RemoteFile, feeding: Feeding) -> Feed:
        return LoopFeed(partial(ObjectsReader, file), feeding)
