"""DICOM through pydicom."""

from __future__ import annotations

import uuid
from io import BytesIO
from typing import TYPE_CHECKING, ClassVar

from adapter_core.images.one_file_each import ImageFiles, Shape

if TYPE_CHECKING:
    import numpy as np

# For identifiers of one length, so that equal images are files of equal size.
HIGHEST_BIT = 1 << 127


class Adapter(ImageFiles):
    """One DICOM file an image, an uncompressed Secondary Capture, and labels.csv.

    DICOM has greyscale and colour without opacity; labels.csv distinguishes (height, width) and (height,
    width, 1). The files have the elements that describe pixels, and no patient. Their bytes differ each
    time: identifiers of images are unique.

    Format: https://dicom.nema.org/medical/dicom/current/output/chtml/part05/ps3.5.html
    """

    label = "DICOM"
    suffix = ".dcms"
    ending = ".dcm"
    requires = ("pydicom",)
    channels: ClassVar = frozenset({0, 1, 3})
    # Rows and columns have 16 bits:
    # https://dicom.nema.org/medical/dicom/current/output/chtml/part03/sect_C.7.6.3.html
    longest_side = 65_535
    _code_of_file: ClassVar = {
        "module": "from pydicom import Dataset, dcmwrite, uid\nfrom pydicom.pixels import pixel_array",
        "encode": (
            "file = Dataset()\n"
            "file.SOPClassUID, file.SOPInstanceUID = "
            "uid.SecondaryCaptureImageStorage, uid.generate_uid()\n"
            'file.set_pixel_data(image, "MONOCHROME2" if image.ndim == 2 else "RGB", bits_stored=8)\n'
            "dcmwrite(os.path.join({path}, name), file, enforce_file_format=True)"
        ),
        "decode": 'image = pixel_array(os.path.join({path}, row["file"]))',
    }

    def _encode(self, image: np.ndarray) -> bytes:
        from pydicom import Dataset, dcmwrite
        from pydicom.dataset import FileMetaDataset
        from pydicom.uid import ExplicitVRLittleEndian, SecondaryCaptureImageStorage

        height, width = image.shape[:2]
        file = Dataset()
        file.file_meta = FileMetaDataset()
        file.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
        file.SOPClassUID = SecondaryCaptureImageStorage
        file.SOPInstanceUID = f"2.25.{uuid.uuid4().int | HIGHEST_BIT}"
        is_colour = image.shape[2:] == (3,)
        file.SamplesPerPixel = 3 if is_colour else 1
        file.PhotometricInterpretation = "RGB" if is_colour else "MONOCHROME2"
        if is_colour:
            file.PlanarConfiguration = 0
        file.Rows, file.Columns = height, width
        file.BitsAllocated = file.BitsStored = 8
        file.HighBit = 7
        file.PixelRepresentation = 0
        # Values have an even length.
        file.add_new("PixelData", "OB", image.tobytes() + bytes(image.nbytes % 2))
        contents = BytesIO()
        dcmwrite(contents, file, enforce_file_format=True)
        return contents.getvalue()

    def _decode(self, data: bytes, shape: Shape) -> np.ndarray:
        from pydicom.pixels import pixel_array

        return pixel_array(BytesIO(data))
