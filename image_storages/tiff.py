"""Multi-page TIFF through tifffile."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core import ImageReader, ImageStorage
from adapter_core.file_facts import FileFacts
from adapter_core.image_shapes import shape_row
from adapter_core.images.readers import PlacedReader

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.image_input import CheckedImages

# Code of the tag with the table, one of those for private use:
# https://www.loc.gov/preservation/digital/formats/content/tiff_tags.shtml
TABLE = 65_000

MOST_CHANNELS = 2**16 - 1  # SamplesPerPixel has 16 bits

# Small images are written many pages a call; larger ones go alone.
BATCH_BYTES = 1 << 20


class Adapter(ImageStorage):
    """One BigTIFF file with a page for each image, uncompressed and each in one piece.

    The labels are in a private tag of the first page: a table of 64-bit numbers, first the number of
    images, then for each the offset of its pixels, height, width, channels (0 for shape (height,
    width)) and label. It finds images without a walk through all pages, and shows a truncated file.
    TIFF requires a page: a set of no images is one black pixel and the number 0.

    BigTIFF, since sets beyond 4 GB need it, and the size of a set is known too late. Consecutive images
    of equal shape are written in batches, which spares tifffile most of its work.

    Format: https://www.awaresystems.be/imaging/tiff/bigtiff.html
    """

    label = "TIFF"
    suffix = ".tif"
    requires = ("tifffile",)
    file_facts = FileFacts(version="BigTIFF", parts={"parts": "strips"})
    snippet = (
        "the labels, shapes and places of the images are a private tag of its own; "
        "tifffile.imwrite(path, images) writes images of one shape as pages"
    )

    def _save(self, images: CheckedImages, labels: np.ndarray, path: Path) -> None:
        import numpy as np
        from tifffile import TiffFile, TiffWriter

        table = np.empty((len(images), 5), "<u8")
        table[:, 4] = labels
        done = 0
        tag = [(TABLE, "Q", 1, 0, True)]
        with TiffWriter(path, bigtiff=True, byteorder="<") as file:
            for batch in self._batches(images):
                pages, options = self._pages(batch)
                offset, _ = file.write(  # type: ignore[misc]  # (None only of compressed ones)
                    pages,
                    contiguous=True,
                    returnoffset=True,
                    metadata=None,
                    extratags=() if done else tag,
                    **options,
                )
                rows = table[done : done + len(batch)]
                rows[:, 0] = offset + np.arange(len(batch)) * batch[0].nbytes
                rows[:, 1:4] = shape_row(batch[0])
                done += len(batch)
            if not done:
                file.write(np.zeros((1, 1), np.uint8), metadata=None, extratags=tag)
        with TiffFile(path, mode="r+") as file:
            count = np.array([done], "<u8").tobytes()
            file.pages.first.tags[TABLE].overwrite(count + table.tobytes())

    @staticmethod
    def _batches(images: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
        """Yield consecutive images of one shape as arrays (images, height, width[, channels])."""
        import numpy as np

        pixels, shape, each = bytearray(), (), 0
        for image in images:
            if pixels and (image.shape != shape or len(pixels) + each > BATCH_BYTES):
                yield np.frombuffer(pixels, np.uint8).reshape(-1, *shape)
                pixels = bytearray()
            shape, each = image.shape, image.nbytes
            if each * 2 > BATCH_BYTES:
                yield image[None]
            else:
                pixels += image.data
        if pixels:
            yield np.frombuffer(pixels, np.uint8).reshape(-1, *shape)

    def _pages(self, batch: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
        """Return the pages of a batch, and their options for tifffile."""
        channels = batch.shape[3] if batch.ndim > 3 else 0  # noqa: PLR2004
        if channels <= 1:
            return batch.reshape(batch.shape[:3]), {"photometric": "minisblack"}
        if channels > MOST_CHANNELS:
            raise self.refusal(f"an image has {channels} channels, and {MOST_CHANNELS} are the most")
        options: dict[str, Any] = {"photometric": "minisblack", "planarconfig": "contig"}
        if channels in (3, 4):
            options["photometric"] = "rgb"
        if channels == 4:  # noqa: PLR2004
            options["extrasamples"] = ["unassalpha"]
        return batch, options

    def _read(self, path: Path) -> tuple[list[np.ndarray], np.ndarray]:
        import numpy as np

        table = _table(path)
        if not len(table):
            return [], np.empty(0, np.int64)
        # One call reads everything, with the few bytes of the pages' descriptions between the images.
        begin = int(table[0, 0])
        offset, *last = table[-1, :4].tolist()
        pixels = np.empty(offset + last[0] * last[1] * max(last[2], 1) - begin, np.uint8)
        with path.open("rb") as file:
            file.seek(begin)
            if file.readinto(pixels.data) != len(pixels):
                raise ValueError(f"{path} ends before its last image does")
        images = [
            np.ndarray(
                (height, width, channels) if channels else (height, width), np.uint8, pixels, start
            )
            for start, height, width, channels in (table[:, :4] - (begin, 0, 0, 0)).tolist()
        ]
        return images, table[:, 4].copy()

    def _open(self, path: Path) -> ImageReader:
        import numpy as np

        table = _table(path)
        return PlacedReader([path], np.insert(table, 0, 0, axis=1))


def _table(path: Path) -> np.ndarray:
    """Return the table in the first page, (images, 5), int64."""
    import numpy as np
    from tifffile import TiffFile

    with TiffFile(path) as file:
        tag = file.pages.first.tags[TABLE]
        file.filehandle.seek(tag.valueoffset)
        numbers = np.frombuffer(file.filehandle.read(8 * tag.count), "<u8")
    if len(numbers) != tag.count or tag.count != 1 + 5 * int(numbers[0]):
        raise ValueError(f"{path} ends before its table does")
    return numbers[1:].astype(np.int64).reshape(-1, 5)
