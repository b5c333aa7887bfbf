"""Layouts of tables: texts of them, the files that formats write, and the code that writes the same."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import data_formats
from adapter_core import TableLayout, UnsupportedError


@pytest.fixture
def df():
    random = np.random.default_rng(4)
    return pd.DataFrame(
        {
            "a b": random.integers(0, 50, 3_000),
            "x": random.random(3_000),
            "t": random.choice(["one", "two"], 3_000),
        }
    )


FULL = TableLayout(
    sort_by=("a b", "x"),
    lookups=("t",),
    group_rows=1_000,
    page_rows=200,
    codec="zstd:3",
    encodings=(("x", "BYTE_STREAM_SPLIT"),),
    statistics=("a b", "x"),
)


@pytest.mark.parametrize(
    "layout",
    [
        TableLayout(),
        FULL,
        TableLayout(sort_by=("é;+=:,%",), partition_by=("t",)),
        TableLayout(codec="none"),
    ],
)
def test_a_layout_comes_back_from_its_text(layout):
    assert TableLayout.parse(str(layout)) == layout
    assert "," not in str(layout)


@pytest.mark.parametrize(
    "text", ["", "sort_by", "sort_by=", "order=x", "group_rows=many", "group_rows=0"]
)
def test_other_texts_are_no_layout(text):
    with pytest.raises(ValueError, match=r"none of|number of rows"):
        TableLayout.parse(text)


def test_a_parquet_file_has_the_layout(df, tmp_path):
    file = tmp_path / "file.parquet"
    data_formats.get("Parquet").with_layout(FULL).save_tuned(df, file, FULL.sort_by, FULL.lookups)
    metadata = pq.read_metadata(file)
    group = metadata.row_group(0)
    assert (metadata.num_row_groups, group.num_rows) == (3, 1_000)
    assert [each.column_index for each in group.sorting_columns] == [0, 1]
    key, value, text = (group.column(each) for each in range(3))
    assert key.compression == "ZSTD"
    assert "BYTE_STREAM_SPLIT" in value.encodings
    assert text.bloom_filter_offset is not None
    assert not text.is_stats_set
    assert key.has_dictionary_page
    assert not value.has_dictionary_page


def test_what_a_format_lacks_is_refused():
    with pytest.raises(UnsupportedError, match="ORC has no choice of group rows"):
        data_formats.get("ORC").with_layout(TableLayout(group_rows=5))
    with pytest.raises(UnsupportedError, match="CSV has no choice of codec"):
        data_formats.get("CSV").with_layout(TableLayout(codec="zstd"))


LAYOUTS = {
    "Parquet": FULL,
    "ORC": TableLayout(sort_by=("a b", "x"), lookups=("t",), codec="zstd", page_rows=1_000),
    "Lance": TableLayout(sort_by=("a b", "x"), lookups=("t",)),
    "Vortex": TableLayout(sort_by=("a b", "x")),
    "Delta": TableLayout(
        sort_by=("a b", "x"), lookups=("x",), partition_by=("t",), codec="zstd:3", group_rows=1_000
    ),
}


@pytest.mark.parametrize("label", LAYOUTS)
def test_code_in_a_fresh_interpreter_writes_the_file_that_was_measured(df, tmp_path, label):
    adapter, layout = data_formats.get(label), LAYOUTS[label]
    own, pasted = tmp_path / f"own{adapter.suffix}", tmp_path / f"pasted{adapter.suffix}"
    adapter.with_layout(layout).save_tuned(df, own, layout.sort_by, layout.lookups)
    df.sort_values(list(layout.sort_by), ignore_index=True).to_pickle(tmp_path / "df")
    code = adapter.layout_code(layout, list(df.columns))
    start = (
        f"import pandas as pd\ndf = pd.read_pickle({str(tmp_path / 'df')!r})\ntarget = {str(pasted)!r}\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", start + code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    if own.is_file():
        assert pasted.read_bytes() == own.read_bytes()
    else:
        sizes = [sorted(f.stat().st_size for f in p.rglob("*.parquet")) for p in (own, pasted)]
        assert sizes[0] == sizes[1]
    found = adapter.read(pasted)
    keys = ["a b", "x"]
    wanted = adapter.read(own).sort_values(keys, ignore_index=True)
    pd.testing.assert_frame_equal(found.sort_values(keys, ignore_index=True)[wanted.columns], wanted)
