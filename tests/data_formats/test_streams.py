"""Streams of formats whose files have a header that depends on all rows."""

from __future__ import annotations

import fastavro
import pandas as pd
import pytest

import data_formats
from adapter_core import CannotHoldError


def test_the_header_of_an_avro_stream_has_the_rows_of_all_batches(tmp_path):
    adapter = data_formats.find("Avro")
    frames = [
        pd.DataFrame({"number": [1, 2], "word": ["a", "b"], "stop": [0.5, 1.5]}),
        pd.DataFrame({"number": [3, 4], "word": [None, "d"], "stop": [2.5, None]}).astype(
            {"word": "str"}
        ),
    ]
    path = tmp_path / "table.avro"
    adapter.save_batches(iter(frames), path)
    assert adapter.count_rows(path) == 4
    pd.testing.assert_frame_equal(adapter.read(path), pd.concat(frames, ignore_index=True))
    with path.open("rb") as file:
        assert [row["word"] for row in fastavro.reader(file)] == ["a", "b", None, "d"]
    # A file that is cut between two blocks looks whole to other readers.
    many = (pd.DataFrame({"number": range(5_000)}) for _ in range(3))
    adapter.save_batches(many, path)
    with path.open("rb") as file:
        ends = [block.offset for block in fastavro.block_reader(file)]
    path.write_bytes(path.read_bytes()[: ends[-1]])
    with pytest.raises(ValueError, match="of 15,000 rows"):
        adapter.read(path)


def test_text_of_later_batches_has_room_for_twice_the_length_in_hdf5(tmp_path):
    adapter = data_formats.find("HDF5.table")
    path = tmp_path / "table.h5"
    frames = [pd.DataFrame({"word": [text], "number": [1]}) for text in ("four", "12345678", "ü")]
    adapter.save_batches(iter(frames), path)
    assert adapter.read(path)["word"].tolist() == ["four", "12345678", "ü"]
    longer = pd.DataFrame({"word": ["üüüüü"], "number": [1]})
    with pytest.raises(CannotHoldError, match="a text of 10 bytes, and the first left room for 8"):
        adapter.save_batches(iter([*frames, longer]), path)
    assert len(adapter.read(path)) == 3
