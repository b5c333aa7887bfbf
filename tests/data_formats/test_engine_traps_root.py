"""ROOT through its own library and through uproot: common files, and damage."""

from __future__ import annotations

import subprocess
import sys

import pandas as pd
import pytest

import data_formats
import data_generator
from adapter_core.tables.root_uproot import MAX_COLUMNS
from format_bench.verification.tables import verify

KINDS = ["ROOT.RNTuple", "ROOT.TTree"]

CRASH = """
import faulthandler, sys
import data_formats
adapter = data_formats.get(sys.argv[1])
faulthandler.enable()
adapter.read(sys.argv[2])
faulthandler._sigsegv()
"""

WIDE = pd.DataFrame({f"c{i}": [i, i + 1] for i in range(2 * MAX_COLUMNS)})
TABLES = {
    "core": data_generator.table("core", rows=3_000).df,
    "one letter": pd.DataFrame({"a": ["x", "y", "z"], "n": pd.array([1, None, 3], "Int8")}),
    "no text": pd.DataFrame({"a": ["", ""], "b": [True, False]}),
    "no rows": pd.DataFrame({"a": pd.Series([], dtype="str"), "f": pd.Series([], dtype="float32")}),
    "wide": WIDE,
}


@pytest.fixture(params=KINDS)
def kind(request):
    answer = data_formats.find(f"{request.param}[ROOT]").availability()
    if not answer:
        pytest.skip(answer.reason)
    return request.param


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("writer_is_root", [False, True], ids=["uproot writes", "ROOT writes"])
def test_each_library_reads_files_of_the_other(kind, name, writer_is_root, tmp_path):
    through_root, through_uproot = data_formats.get(f"{kind}[ROOT]"), data_formats.get(kind)
    writer, reader = (through_root, through_uproot) if writer_is_root else (through_uproot, through_root)
    path = tmp_path / "table.root"
    writer.save(TABLES[name], path)
    assert verify(TABLES[name], reader.read(path)).exact


@pytest.mark.costly("data_formats")
def test_faulthandler_still_reports_a_crash_after_root_was_loaded(kind, tmp_path):
    label, path = f"{kind}[ROOT]", tmp_path / "table.root"
    data_formats.get(label).save(WIDE, path)
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CRASH, label, path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode < 0
    assert ended.stderr.startswith("Fatal Python error: Segmentation fault")


def test_changed_bits_are_noticed_in_an_rntuple_alone(kind, tmp_path):
    values = pd.DataFrame({"text": [f"value {i:06}" for i in range(5_000)]})
    adapter, path = data_formats.get(f"{kind}[ROOT]"), tmp_path / "table.root"
    adapter.save(values, path)
    content = path.read_bytes()
    path.write_bytes(content.replace(b"value 002500", b"value 902500"))
    assert path.read_bytes() != content
    if kind == "ROOT.RNTuple":
        with pytest.raises(Exception, match="checksum"):
            adapter.read(path)
    else:
        assert verify(values, adapter.read(path)).errors


def test_slices_start_and_end_within_baskets(kind, tmp_path):
    words = ["a", "bb", "ccc", "", "eeeee"]
    df = pd.DataFrame(
        {"x": [i / 8 for i in range(60_000)], "word": [words[i % 7 % 5] for i in range(60_000)]}
    )
    path = tmp_path / "t.root"
    data_formats.get(f"{kind}[ROOT]").save(df, path)
    for reader in (kind, f"{kind}[ROOT]"):
        for rows in (
            slice(4_090, 4_100),
            slice(30_000, 45_001),
            slice(59_990, None),
            slice(60_000, 60_001),
        ):
            expected = df[rows].reset_index(drop=True)
            pd.testing.assert_frame_equal(data_formats.get(reader).read(path, rows=rows), expected)
