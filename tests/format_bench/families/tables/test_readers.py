"""The step `compatibility`: other libraries read a file that an adapter has saved."""

from __future__ import annotations

import data_formats
import data_generator
from format_bench.families.tables.operations import count_unlike_readers


def test_readers_that_refuse_a_file_or_change_values_are_counted(tmp_path):
    adapter, df = data_formats.get("CSV"), data_generator.table("eq", rows=50).df
    file = tmp_path / "table.csv"
    adapter.save(df, file)
    found = count_unlike_readers(adapter, df, file)
    assert found.repeats == [0]
    assert found.sentence.startswith("read by CSV")
    file.write_text(file.read_text().replace("1", "2", 1))
    damaged = count_unlike_readers(adapter, df, file)
    assert damaged.repeats[0] >= 1
    assert "CSV: " in damaged.sentence
