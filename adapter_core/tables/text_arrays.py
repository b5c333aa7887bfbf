"""Text and bytes as NumPy arrays, and back, without a Python step per value.

Text of one length has the shape (rows, length). Other text, and bytes, lie end to end, with offsets:
a few long values do not make all others long, and NUL characters at the end of a value stay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


# Arrow's text has offsets of 32 bits, large text of 64.
_LARGEST_INT32 = 2**31 - 1


def text_to_arrays(text: pa.Array) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the bytes of all values, and their offsets.

    Parameters
    ----------
    text : pyarrow.Array
        Shape (rows,), of type large_string or large_binary.

    Returns
    -------
    bytes : numpy.ndarray
        Dtype uint8; shape (rows, length) for text whose values all have one length, in bytes of UTF-8,
        else (bytes,). The bytes of a null are arbitrary.
    offsets : numpy.ndarray or None
        Dtype int32, or int64 beyond 2 GiB; shape (rows + 1,); None for text of one length.
    """
    import numpy as np
    import pyarrow.compute as pc

    length = _common_length(text) if text.type == "large_string" else 0
    if length:
        if text.null_count:
            text = pc.fill_null(text, "\0" * length)
        data, offsets = _buffers(text)
        return data.reshape(len(text), length), None
    data, offsets = _buffers(text)
    return data, offsets.astype(np.int32) if len(data) <= _LARGEST_INT32 else offsets


def text_from_arrays(
    data: np.ndarray, offsets: np.ndarray | None, valid: np.ndarray | None, kind: pa.DataType
) -> pa.Array:
    """Return the text or bytes of `text_to_arrays`, over the same memory if possible.

    Parameters
    ----------
    data, offsets : numpy.ndarray
        Results of `text_to_arrays`; values of one length may also have dtype S, shape (rows,).
    valid : numpy.ndarray or None
        Dtype bool, shape (rows,), False for nulls; None without nulls.
    kind : pyarrow.DataType
        large_string or large_binary.

    Raises
    ------
    pyarrow.ArrowInvalid
        If offsets do not fit the bytes, or text is not UTF-8: either could crash its reader.
    """
    import numpy as np
    import pyarrow as pa

    if offsets is None:
        length = data.nbytes // max(len(data), 1)
        offsets = np.arange(0, data.nbytes + 1, max(length, 1), dtype=np.int64)
    offsets = offsets.astype(np.int64, copy=False)
    nulls = None if valid is None else pa.array(valid).buffers()[1]
    buffers = [nulls, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(data))]
    text = pa.Array.from_buffers(kind, len(offsets) - 1, buffers)
    text.validate(full=True)
    return text


def as_fixed_width(values: np.ndarray) -> np.ndarray:
    """Return text of shape (rows, length) as dtype S, shape (rows,); other arrays as they are."""
    return values.view(f"S{values.shape[1]}")[:, 0] if has_one_length(values) else values


def has_one_length(values: np.ndarray) -> bool:
    """Return whether an array is text of one length, and not e.g. the numbers of vectors."""
    return values.ndim > 1 and values.dtype == "uint8"


def _common_length(text: pa.Array) -> int:
    """Return the length in bytes that all values have, null or not; 0 if they differ."""
    import pyarrow.compute as pc

    lengths = pc.min_max(pc.binary_length(text)).as_py()
    return (lengths["min"] == lengths["max"] and lengths["max"]) or 0


def _buffers(text: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Return the bytes, dtype uint8, and the offsets, dtype int64, of the values alone."""
    import numpy as np

    _, places, data = text.buffers()
    offsets = np.frombuffer(places, np.int64)[text.offset : text.offset + len(text) + 1]
    values = np.frombuffer(data or b"", np.uint8)[offsets[0] : offsets[-1]]
    return values, offsets - offsets[0] if offsets[0] else offsets
