"""Single table formats, beyond the contract in format_bench/conformance/."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import data_formats
from adapter_core import CannotHoldError
from adapter_core.pandas_text import exact_floats
from format_bench.conformance.tables import every_table, ordinary
from format_bench.verification.tables import verify


def test_an_avro_file_cut_between_two_blocks_is_noticed(tmp_path):
    path = tmp_path / "table.avro"
    adapter = data_formats.get("Avro")
    adapter.save(pd.concat([ordinary()] * 500, ignore_index=True), path)
    data = path.read_bytes()
    marker = data[-16:]
    first_block = data.find(marker, data.find(marker) + 16) + 16
    assert first_block < len(data)
    path.write_bytes(data[:first_block])
    with pytest.raises(ValueError, match="of 2,000 rows"):
        adapter.read(path)


def test_csv_reads_text_that_looks_like_numbers_in_its_first_part_only(tmp_path):
    adapter, path = data_formats.get("CSV"), tmp_path / "t.csv"
    numbers = [f"{i:07}" for i in range(400_000)]
    df = pd.DataFrame({"code": [*numbers, "x"], "late": [None] * 400_000 + ["y"]})
    adapter.save(df, path)
    assert verify(df, adapter.read(path)).errors == ()


def test_excel_refuses_a_row_too_many_without_writing(tmp_path):
    adapter = data_formats.get("Excel")
    rows = pd.DataFrame({"n": np.zeros(1_048_576, dtype="int8")})
    with pytest.raises(CannotHoldError, match=r"1,048,576 rows and a header do not fit in 1,048,576"):
        adapter.save(rows, tmp_path / "t.xlsx")
    adapter.check(rows.iloc[:-1])
    wide = pd.DataFrame(np.zeros((1, 16_385)), columns=[f"c{i}" for i in range(16_385)])
    with pytest.raises(CannotHoldError, match=r"16,385 columns do not fit in 16,384"):
        adapter.save(wide, tmp_path / "t.xlsx")


def test_orc_refuses_unsigned_integers():
    with pytest.raises(CannotHoldError, match="column 'c' contains unsigned integers; ORC has no type"):
        data_formats.get("ORC").check(every_table()["uint8 column"])


@pytest.mark.parametrize(
    ("version", "options"),
    [("2.2.3", {"float_precision": "round_trip"}), ("3.0.0", {"float_precision": "round_trip"})]
    + [(version, {}) for version in ("3.1.0", "3.10.0rc1", "4.0.0", pd.__version__)],
)
def test_csv_asks_older_pandas_for_exact_floats(version, options):
    assert exact_floats(version) == options
