"""Studies that measure their cells themselves: names and options of the command, and the tables."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from adapter_core.errors import FormatBenchError
from format_bench.cli.main import format_bench
from format_bench.studies.declared.spread import spread


def call(*arguments):
    """Return what a study prints."""
    command = ["study", *map(str, arguments)]
    done = CliRunner().invoke(format_bench, command, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def table(page):
    """Return the header and the rows of the first table."""
    lines = page[page.index("| ") :].split("\n\n")[0].splitlines()
    found = [[each.strip() for each in line.strip("|").split("|")] for line in lines]
    return found[0], found[2:]


def test_sizes_are_ranked():
    header, rows = table(call("sizes", "eq", "--rows", 200))
    assert header == ["format", "eq", "eq, place"]
    names = (
        "CSV; Feather, no codec; Lance; ORC; Parquet, no codec; Parquet snappy; Parquet zstd 1; Vortex"
    )
    assert [row[0] for row in rows] == names.split("; ")
    assert sorted(int(row[2]) for row in rows) == list(range(1, 9))


def test_cold_reads_are_beside_warm_ones_and_a_projection_fetches_its_columns(tmp_path):
    out = tmp_path / "page.md"
    call("cold-reads", "Feather", "--rows", 50_000, "--scratch", tmp_path, "--out", out)
    header, ((_, *_, whole, projected),) = table(out.read_text())
    assert header == ["format", "warm", "cold", "fetched", "of 2 of 26"]
    assert float(whole.rstrip("%")) > 95
    # Two columns of 26 are 7.7 %, if all are of one width; footer and read-ahead come on top.
    assert 5 < float(projected.rstrip("%")) < 15


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("sizes", "eqq"), "there is no data set 'eqq'"),
        (("cold-reads", "XYZ"), "there is no format 'XYZ'"),
        (("repeats", "CSV", "--suite", "tabulr"), "there is no suite 'tabulr'"),
    ],
)
def test_unknown_names_are_refused(arguments, sentence):
    with pytest.raises(FormatBenchError, match=sentence):
        call(*arguments)


def test_the_spread_is_the_range_by_the_median():
    assert spread([10.0, 11.0, 9.5]) == pytest.approx(0.15)
    assert spread([0, 0]) == 0


def test_each_cell_has_the_values_of_all_repeats_or_the_reason():
    options = ("--dataset", "entities-nested", "--rows", 50, "--times", 2)
    header, rows = table(call("repeats", "MessagePack[msgspec]", "SQLite", *options))
    assert header == ["cell", "metric", "median", "spread", "values"]
    found = {(row[0], row[1]): row[2:] for row in rows}
    median, spread_of_sizes, values = found["MessagePack[msgspec]", "size"]
    assert (spread_of_sizes, values) == ("0.0%", f"{median}  {median}")
    assert {("MessagePack[msgspec]", each) for each in ("save time", "held memory")} <= found.keys()
    assert "unsupported: SQLite cannot store these records" in found["SQLite", "save time"][2]
