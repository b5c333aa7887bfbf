"""Arrays that grow along their first axis."""

from __future__ import annotations

import os
from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core.array_store import ArrayStore

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.array_source import ArraySource


class Appendable(ArrayStore, hooks=("_append",)):
    """A store whose library adds to a saved array without writing its chunks again.

    An adapter implements `_append`, and has the trait `Trait.APPEND`.
    """

    def append(self, array: np.ndarray | ArraySource, path: str | os.PathLike[str]) -> None:
        """Add an array at the end of a saved one's first axis, with the file's codec.

        Chunks that are in the file already are not written again; its last ones along the axis must be
        whole. Properties of the saved array stay, except that the coordinates of the first dimension are
        extended.

        Raises
        ------
        CannotHoldError
            If dtype or edges differ from the saved array's, or its last chunks are not whole.
        FileNotFoundError
            If the path does not exist.
        """
        with self.open(path) as reader:
            saved = reader.description
        source = self._source(array, saved.chunks)
        if source.dtype != saved.dtype or source.shape[1:] != saved.shape[1:] or not saved.shape:
            raise self.refusal(
                f"{source.dtype} of shape {source.shape} cannot follow "
                f"{saved.dtype} of shape {saved.shape}"
            )
        if saved.shape[0] % saved.chunks[0]:
            raise self.refusal(
                f"the last chunks of the saved array are not whole, its shape is {saved.shape}"
            )
        self._append(source, Path(path))

    @abstractmethod
    def _append(self, source: ArraySource, path: Path) -> None:
        """Append a source of the saved array's chunks."""
