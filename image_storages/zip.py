"""ZIP archive through Python's zipfile."""

from __future__ import annotations

import io
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile, ZipInfo

from adapter_core import Given, ImageReader, ImageStorage, Snippet
from adapter_core.images.npy import HEADER_BYTES, header, image_in

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.image_input import CheckedImages

LABELS = "labels.npy"


class Adapter(ImageStorage):
    """One ZIP archive: an .npy file for each image, 000000000.npy and so on, and labels.npy, stored.

    `numpy.load` opens the archive as an .npz file. zipfile checks the sum of each member that it reads.
    The directory is at the end, hence a truncated archive does not open at all
    (https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, 4.3).
    """

    label = "ZIP"
    suffix = ".zip"
    requires = ("numpy",)
    snippet = Snippet(
        imports="import zipfile\n\nimport numpy as np",
        write="""
            with zipfile.ZipFile({path}, "w") as archive:
                for index, image in enumerate(images):
                    with archive.open(f"{index:09d}.npy", "w") as file:
                        np.save(file, image)
                with archive.open("labels.npy", "w") as file:
                    np.save(file, labels)
        """,
        read="""
            with np.load({path}) as archive:
                labels = archive["labels"]
                images = [archive[name] for name in archive.files if name != "labels"]
        """,
        given=Given.IMAGES,
    )

    def _save(self, images: CheckedImages, labels: np.ndarray, path: Path) -> None:
        import numpy as np

        with ZipFile(path, "w") as archive:
            for index, image in enumerate(images):
                member = ZipInfo(f"{index:09d}.npy")
                # zipfile reserves room for the size in the header by this estimate.
                member.file_size = HEADER_BYTES + image.nbytes
                with archive.open(member, "w") as file:
                    file.write(header(image.shape))
                    file.write(image.data)
            file = io.BytesIO()
            np.save(file, labels)
            archive.writestr(ZipInfo(LABELS), file.getvalue())

    def _read(self, path: Path) -> tuple[list[np.ndarray], np.ndarray]:
        with self._open(path) as reader:
            return reader.get_many(range(len(reader)))

    def _open(self, path: Path) -> ImageReader:
        return _ZipReader(path)


class _ZipReader(ImageReader):
    """Keeps the archive open, and its directory and the labels in memory."""

    def __init__(self, path: Path) -> None:
        import numpy as np

        with ExitStack() as opened:
            self._archive = opened.enter_context(ZipFile(path))
            with self._archive.open(LABELS) as file:
                self._labels = np.load(file, allow_pickle=False)
            self._members = [each for each in self._archive.infolist() if each.filename != LABELS]
            if len(self._labels) != len(self._members):
                raise ValueError(f"{path} has {len(self._members)} images, {len(self._labels)} labels")
            self._opened = opened.pop_all()
        super().__init__(len(self._members))

    def _get(self, index: int) -> tuple[np.ndarray, int]:
        return image_in(self._archive.read(self._members[index])), int(self._labels[index])

    def _get_many(self, indices: list[int]) -> tuple[list[np.ndarray], np.ndarray]:
        images = [image_in(self._archive.read(self._members[index])) for index in indices]
        return images, self._labels[indices]

    def close(self) -> None:
        self._opened.close()
