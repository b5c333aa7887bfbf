"""Tables that go from one version of pandas to another as pickles."""

from __future__ import annotations

import io
import os
import pickletools
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from adapter_core import environments
from format_bench.families.tables.pickled import dump_table, load_table
from tests.helpers import ROOT

TIMES = pd.DatetimeIndex(["2020-01-01T12:30:00.5", None, "1960-03-01T00:00:00.0"]).as_unit("us")
TABLE = pd.DataFrame(
    {
        "number": [1.5, np.nan, -0.0],
        "number too": [1, 2, 3],
        "time": TIMES,
        "time too": TIMES[::-1],
        "zone": TIMES.tz_localize("Europe/Berlin"),
        "took": TIMES - TIMES[0],
        "month": pd.PeriodIndex(TIMES, freq="M"),
        "kind": pd.Categorical(["b", None, "a"], ["b", "a"], ordered=True),
        "code": pd.Categorical([7, 9, 7]),
        "text": pd.Series(["ä", None, ""], dtype="str"),
        "text too": pd.Series(["ä", None, ""], dtype="string"),
        "object": pd.Series([b"1", None, [2]], dtype=object),
        "nullable": pd.array([1, None, 3], dtype="Int64"),
        "list": pd.Series([[1], None, []], dtype=pd.ArrowDtype(pa.list_(pa.int64()))),
        "decimal": pd.Series(["1.5", None, "2"], dtype=pd.ArrowDtype(pa.decimal128(9, 2))),
    }
)


def stored(df):
    file = io.BytesIO()
    dump_table(df, file)
    file.seek(0)
    return file


def test_a_table_comes_back_with_its_blocks():
    found = load_table(stored(TABLE))
    pd.testing.assert_frame_equal(found, TABLE)
    assert [each.shape for each in found._mgr.blocks] == [each.shape for each in TABLE._mgr.blocks]


def test_several_tables_follow_each_other_in_a_file():
    file = io.BytesIO()
    for df in (TABLE, TABLE.iloc[:0]):
        dump_table(df, file)
    file.seek(0)
    assert [len(load_table(file)) for _ in range(2)] == [3, 0]


def test_no_state_is_written_that_another_pandas_may_not_load():
    texts = {str(value) for _, value, _ in pickletools.genops(stored(TABLE).getvalue()) if value}
    assert {"_backed", "_text", "ArrowDtype"} <= texts
    assert not {"__pyx_unpickle_NDArrayBacked", "ArrowStringArray", "pyarrow_dtype"} & texts


@pytest.mark.filterwarnings("ignore:The 'future.infer_string' option is deprecated")
def test_text_is_of_objects_where_pandas_makes_it_so():
    file = stored(TABLE)
    with pd.option_context("future.infer_string", False):
        found = load_table(file)
    assert found["text"].dtype == found["kind"].cat.categories.dtype == found.columns.dtype == object
    assert found["text"].tolist()[::2] == ["ä", ""]
    assert found["text"].isna().tolist() == [False, True, False]
    assert (found["kind"].cat.ordered, found["kind"].tolist()[::2]) == (True, ["b", "a"])
    assert found["text too"].dtype == "string"


_LOAD = """
import sys
import pandas as pd
from format_bench.families.tables.pickled import load_table
with open(sys.argv[1], "rb") as file:
    df = load_table(file)
print(pd.__version__)
for name, column in df.items():
    print(name, column.dtype, [None if each is pd.NA or each != each else each for each in column])
"""


@pytest.mark.parametrize("name", environments.names())
def test_an_environment_loads_the_same_values(name, tmp_path):
    own = environments.OwnEnvironment(name)
    if not own.built():
        pytest.skip(own.built().reason)
    path = tmp_path / "table"
    path.write_bytes(stored(TABLE.drop(columns="object")).getvalue())

    def loaded(python):
        done = subprocess.run(
            [python, "-c", _LOAD, str(path)],
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        )
        version, *columns = done.stdout.splitlines()
        return version.split(".")[0], columns

    here, there = loaded(sys.executable), loaded(own.python)
    if here[0] == there[0]:
        assert here == there
    else:
        assert [each.split("[")[-1] for each in here[1]] == [each.split("[")[-1] for each in there[1]]
