"""What is easily lost in formats that keep arrays: the traps, and adapters that avoid them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import data_formats
from format_bench.verify import verify

NULLS = pd.DataFrame({"c": ["a", None, "bcd", "", None, "e"], "i": pd.array([1, None, 2, 3, 4, 5])})
NULS = pd.DataFrame({"same": ["a\0", "\0b", "\0\0"], "differ": ["a\0", "\0\0\0", ""]})
LONG_TAIL = pd.DataFrame({"c": ["x"] * 4_000 + ["y" * 100_000]})
ARRAY_FORMATS = ["NPZ"]


@pytest.fixture(params=ARRAY_FORMATS)
def adapter(request):
    return data_formats.get(request.param)


def kept(adapter, df, path):
    adapter.save(df, path)
    return verify(df, adapter.read(path))


@pytest.mark.parametrize(
    "df", [NULLS, NULS, NULLS.head(0), LONG_TAIL], ids="nulls NULs empty long".split()
)
def test_array_formats_lose_nothing(adapter, df, tmp_path):
    assert kept(adapter, df, tmp_path / f"t{adapter.suffix}").exact


def test_a_long_value_does_not_fill_the_file(adapter, tmp_path):
    path = tmp_path / f"t{adapter.suffix}"
    adapter.save(LONG_TAIL, path)
    assert adapter.size_bytes(path) < 4 * LONG_TAIL["c"].str.len().sum()


def test_numpy_pickles_text_of_objects_and_drops_nuls(tmp_path):
    path = tmp_path / "naive.npz"
    np.savez(path, c=NULLS["c"].to_numpy(object), s=np.array(["a\0"], "S2"))
    with np.load(path) as file:
        with pytest.raises(ValueError, match="allow_pickle=False"):
            file["c"]
        assert file["s"].tolist() == [b"a"]


def test_npz_has_no_array_of_objects(tmp_path):
    path = tmp_path / "t.npz"
    data_formats.get("NPZ").save(NULLS, path)
    with np.load(path, allow_pickle=False) as file:
        assert not any(file[name].dtype.hasobject for name in file)
