"""Chunks by fpzip and OpenZL: kinds of values, bits of NaNs, and damage."""

from __future__ import annotations

import numpy as np
import pytest

from adapter_core.array_store import ALL_DTYPES
from adapter_core.arrays import chunk_codecs

SHAPES = [(), (1,), (3, 4), (2, 3, 4), (2, 1, 3, 2, 2)]


def noise(dtype, shape):
    count = int(np.prod(shape))
    bits = np.random.default_rng(0).integers(0, 256, 16 * count + 16, np.uint8)
    return np.frombuffer(bits.tobytes(), dtype)[:count].reshape(shape)  # read-only


@pytest.mark.parametrize(
    ("codec", "dtypes"), [("fpzip", chunk_codecs.FPZIP_DTYPES), ("openzl", ALL_DTYPES - {"bool"})]
)
def test_all_bits_come_back(codec, dtypes, subtests):
    for dtype in sorted(dtypes):
        for shape in SHAPES:
            with subtests.test(dtype, shape=shape):
                values = noise(dtype, shape)
                encoded = chunk_codecs.encode(values, codec, None)
                assert chunk_codecs.is_encoded_by(encoded, codec)
                found = chunk_codecs.decode(encoded, codec, values.dtype, shape)
                assert (found.dtype, found.shape) == (values.dtype, shape)
                assert found.tobytes() == values.tobytes()


def test_fpzip_predicts_along_three_axes():
    """A field that is smooth along all axes takes less as a volume than as a row of values."""
    first, second, third = np.ogrid[:20, :20, :20]
    field = np.sin(first / 5 + second / 7 + third / 9).astype("float32")
    as_volume, as_row = (chunk_codecs.encode(each, "fpzip", None) for each in (field, field.ravel()))
    assert len(as_volume) < 0.9 * len(as_row) < field.nbytes


@pytest.mark.parametrize("codec", ["fpzip", "openzl"])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_a_truncated_chunk_is_an_error(codec, share):
    values = np.random.default_rng(0).random(1_000)
    encoded = chunk_codecs.encode(values, codec, None)
    with pytest.raises(Exception, match=r"."):
        chunk_codecs.decode(encoded[: int(len(encoded) * share)], codec, values.dtype, values.shape)
