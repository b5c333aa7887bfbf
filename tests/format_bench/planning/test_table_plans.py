"""Plans of tables: a real plan with its code, layouts of records, and unhappy paths."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adapter_core import TableLayout
from data_generator.user.table import load_table
from format_bench.cli.main import main
from format_bench.results import records

MIX = """
weigh = { save = 0, size = 0.01 }
[[question]]
name = "a device"
weight = 3
columns = ["time", "load"]
where = [{ column = "device", operator = "==", value = 7 }]
[[question]]
name = "by status"
group = "status"
aggregates = ["count", "sum(load)"]
"""


def question(text):
    return f'[[question]]\nname = "q"\n{text}\n'


@pytest.fixture
def call(tmp_path, monkeypatch, capfd):
    """Call the command in this process, in a folder with a mix and tables."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mix.toml").write_text(MIX)
    random = np.random.default_rng(3)
    df = pd.DataFrame(
        {
            "time": pd.date_range("2024", periods=20_000, freq="s"),
            "device": random.integers(0, 40, 20_000),
            "load": random.random(20_000),
            "status": random.choice(["ok", "bad"], 20_000),
            "faults": pd.array([2**60 + 1, None] * 10_000, "Int64"),
        }
    )
    # As other programs write it: pandas would read floats.
    table = pa.Table.from_pandas(df).replace_schema_metadata(None)
    pq.write_table(table, tmp_path / "mine.parquet")
    df[["device"]].head(500).assign(none=None).to_parquet(tmp_path / "small.parquet")
    df[["device"]].head(9).assign(list=[[1]] * 9).to_parquet(tmp_path / "lists.parquet")
    df.head(0).to_parquet(tmp_path / "empty.parquet")
    np.save(tmp_path / "array.npy", np.zeros((4, 4)))

    def run(*arguments):
        with pytest.raises(SystemExit) as caught:
            main(["plan", *arguments, "--scratch", str(tmp_path)])
        out, err = capfd.readouterr()
        return caught.value.code or 0, out, err

    return run


def test_a_plan_is_measured_beside_the_defaults_and_its_code_writes_it(call, tmp_path):
    arguments = "mix.toml", "--data", "mine.parquet", "--stores", "Parquet[duckdb]", "--budget", "1s"
    status, out, err = call(*arguments, "--json", "--out", "plan.md")
    assert status == 0, err
    found = json.loads(out)
    assert list(found["answer"]) == ["use", "because", "or"]
    kinds = {kind for each in found["ranked"] for kind in each["kinds"]}
    assert kinds >= {"designed", "the library's defaults"}
    for each in found["ranked"]:
        assert each["low"] <= each["measured"] <= each["high"]
        assert [query["name"] for query in each["queries"]] == ["a device", "by status"]
    assert found["mix"]["weigh"] == {"save": 0, "size": 0.01}
    kept = records.read(tmp_path / "reports" / "plan-mine" / "results.jsonl")
    assert {each.conditions["layout"] for each in kept} >= {each["layout"] for each in found["ranked"]}
    page = (tmp_path / "plan.md").read_text()
    assert "```python\nimport pandas as pd\n" in page
    done = subprocess.run(
        [sys.executable, "-I", "-c", found["code"]],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    layout = TableLayout.parse(found["use"]["layout"])
    written, whole = pq.ParquetFile(tmp_path / "planned.parquet"), load_table("mine.parquet").df
    assert written.metadata.num_row_groups == found["ranked"][0]["chunks_number"]
    wanted = whole.sort_values(list(layout.sort_by), kind="stable", ignore_index=True)
    assert written.schema_arrow.field("faults").type == pa.int64()
    read = written.read().to_pandas().astype(whole.dtypes)
    pd.testing.assert_frame_equal(read, wanted if layout.sort_by else whole)


def test_the_answer_has_three_lines_and_the_rest_only_if_asked_for(call):
    arguments = "mix.toml", "--data", "mine.parquet", "--stores", "Vortex[vortex]", "--budget", "1s"
    status, out, err = call(*arguments)
    assert status == 0, err
    words = [line.split()[0] for line in out.splitlines() if line and line[0] not in " -"]
    assert [word for word in words if word in {"use", "because", "or"}] == ["use", "because", "or"]
    assert "vortex.io.write" in out
    assert "predicted" not in out.partition("import")[2]
    _, explained, _ = call(*arguments, "--explain")
    assert "Fitted cost models" in explained
    assert "note: Measured on the whole table, 20,000 rows." in explained


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ('columns = ["nosuch"]', (), "question 'q': the table has no column nosuch"),
        ('sql = "SELECT x FROM data"', (), 'Referenced column "x" not found'),
        ('aggregates = ["sum(none)"]', ("--data", "small.parquet"), "question 'q': sum of 'none'"),
        ('columns = ["load"]', ("--data", "empty.parquet"), "contains no rows"),
        ('columns = ["load"]', ("--data", "array.npy"), "mix.toml asks a table; array.npy has arrays"),
        ('columns = ["load"]', ("--stores", "Parquet[duck]"), "did you mean Parquet[duckdb]"),
        ('columns = ["load"]', ("--codec", "zpaq"), "--codec zpaq: layouts have none, snappy"),
        (
            'columns = ["load"]\npositions = [3]',
            ("--stores", "Parquet[datafusion]"),
            "no store could be measured: Parquet[datafusion]: question 'q': datafusion does not answer",
        ),
        (
            'columns = ["device"]\n[tuned.data]\nsort_by = ["list"]\nlookups = []',
            ("--data", "lists.parquet"),
            "[tuned.data]: rows cannot be sorted by 'list'",
        ),
        ('columns = ["load"]\nweight = 0', (), "weight is 0; write a number above 0"),
        ('columns = ["load"]\n[weigh]\nsave = 2', (), "weigh is {'save': 2}; write shares from 0 to 1"),
    ],
)  # fmt: skip
def test_what_cannot_be_planned_ends_with_one_line_and_status_2(
    call, tmp_path, text, arguments, message
):
    (tmp_path / "mix.toml").write_text(question(text))
    data = () if "--data" in arguments else ("--data", "mine.parquet")
    status, out, err = call("mix.toml", *data, *arguments)
    assert (status, out) == (2, "")
    assert message in err.splitlines()[-1]
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("store", "choice"), [("Delta[deltalake]", "partition_by"), ("Parquet[duckdb]", "statistics")]
)
def test_folders_and_statistics_are_tried_where_a_format_has_them(call, tmp_path, store, choice):
    where = 'where = [{ column = "status", operator = "==", value = "bad" }]'
    (tmp_path / "mix.toml").write_text(question(f'aggregates = ["count", "sum(load)"]\n{where}'))
    arguments = "mix.toml", "--data", "mine.parquet", "--stores", store, "--budget", "1s"
    status, _, err = call(*arguments)
    assert status == 0, err
    # The ranked ones are the fastest, and need not be among those.
    kept = records.read(tmp_path / "reports" / "plan-mine" / "results.jsonl")
    layouts = [TableLayout.parse(each.conditions["layout"]) for each in kept]
    assert {getattr(each, choice) for each in layouts} == {(), ("status",)}
