"""Costs in a cloud are those of a calculation by hand, and mistakes in prices have a line each."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from format_bench.recommendation import cost, recommend
from format_bench.recommendation.cost import (
    Access,
    Consumption,
    Cost,
    Prices,
    Use,
    break_even,
    cheapest,
    cost_of,
)
from format_bench.results import shipped
from format_bench.results.export import export
from format_bench.results.metrics import Measure
from tests.commands import run
from tests.factories.answers import undocumented
from tests.factories.records import record, results, results_of

PRICES = Prices(
    gigabyte_bytes=1e9, put_1000=0.005, get_1000=0.0004, gb_month=0.02, gb_out=0.10, cpu_hour=0.036
)
USE = Use(kept=3, saves=30, reads=1000, parts=10_000)
FILE = Consumption(
    size_bytes=2e9,
    save=Access(requests=4, cpu_seconds=36),
    read=Access(requests=10, bytes_out=2e9, cpu_seconds=18),
    part=Access(requests=5, bytes_out=1e8, cpu_seconds=1),
)
VALUES = {
    "Parquet": {"size": 1e9, "save CPU time": 72.0, "read CPU time": 36.0},
    "CSV": {"size": 3e9, "save CPU time": 3.6, "read CPU time": 3.6},
}


def cloud(tmp_path, **use):
    path = tmp_path / "prices.toml"
    text = cost.example()
    for name, number in use.items():
        text = text.replace(f"\n{name} = ", f"\n{name} = {number}  # ")
    path.write_text(text, encoding="utf-8")
    return path


def test_a_month_costs_what_it_does_by_hand():
    found = cost_of(FILE, PRICES, USE)
    # 3 x 2 GB x 0.02 a GB and month.
    assert found.storage == pytest.approx(0.12)
    # 4 requests of 0.005 / 1,000, and 36 s of 0.036 / 3,600 s.
    assert found.each["saves"] == pytest.approx(0.00002 + 0.00036)
    # 10 requests of 0.0004 / 1,000, 2 GB of 0.10, and 18 s.
    assert found.each["reads"] == pytest.approx(0.000004 + 0.2 + 0.00018)
    # 5 requests, 0.1 GB and 1 s.
    assert found.each["parts"] == pytest.approx(0.000002 + 0.01 + 0.00001)
    assert found.month == pytest.approx(0.12 + 0.0114 + 200.184 + 100.12)
    assert found.year == pytest.approx(12 * 300.4354)
    binary = replace(PRICES, gigabyte_bytes=2**30)
    assert cost_of(FILE, binary, USE).storage == pytest.approx(0.12 * 1e9 / 2**30)


def test_the_cheapest_changes_where_two_cost_the_same():
    use = Use(kept=1, saves=0, reads=500, parts=0)
    costs = {
        "fixed": Cost(10.0, {"saves": 0.0, "reads": 0.001, "parts": 0.0}, use),
        "frugal": Cost(3.8, {"saves": 0.0, "reads": 0.003, "parts": 0.0}, use),
        "worse": Cost(11.0, {"saves": 0.0, "reads": 0.003, "parts": 0.0}, use),
        "never": Cost(200.0, {"saves": 0.0, "reads": 0.0, "parts": 0.0}, use),
    }
    spans = cheapest(costs, "reads")
    assert [(round(each.start), each.name) for each in spans] == [
        (0, "frugal"),
        (3100, "fixed"),
        (190_000, "never"),
    ]
    at = {name: each.storage + 3100 * each.each["reads"] for name, each in costs.items()}
    assert at["fixed"] == pytest.approx(at["frugal"])
    assert break_even(spans, "reads") == (
        "Below 3,100 whole reads a month frugal is cheapest; up to 190,000 fixed; above never."
    )
    assert break_even(spans[:1], "saves") == "frugal is cheapest for any number of saves a month."


def test_requests_are_those_counted_by_the_study_or_in_the_results(tmp_path):
    found = results_of(VALUES)
    answer = recommend(found, {Measure("size"): 1})
    prices = cost.read_cloud(cloud(tmp_path, reads=10))
    bill = cost.bill(answer, found.records, prices)
    link = shipped.link_costs()["Parquet"]
    one = link.requests * 0.0004 / 1000 + link.share * 1e9 / 2**30 * 0.09 + 36 / 3600 * 0.0504
    assert bill.costs["Parquet, no codec"].each["reads"] == pytest.approx(one)
    assert bill.costs["Parquet, no codec"].each["saves"] == pytest.approx(0.000005 + 0.02 * 0.0504)
    assert any("`format-bench study links`" in each and "CSV" in each for each in bill.sources)
    assert "one request for each file is assumed of a save: Parquet, no codec and CSV" in bill.sources
    own = {"remote read requests": 7, "remote read bytes": 2e9}
    own |= {"remote save requests": 20, "remote save bytes": 1e9}
    counted = [record("Parquet", name, value, suite="remote.RemoteCost") for name, value in own.items()]
    measured = cost.bill(answer, [*found.records, *counted], prices).costs["Parquet, no codec"]
    assert measured.each["reads"] == pytest.approx(
        7 * 0.0004 / 1000 + 2e9 / 2**30 * 0.09 + 0.01 * 0.0504
    )
    assert measured.each["saves"] == pytest.approx(20 * 0.005 / 1000 + 0.02 * 0.0504)


def test_a_format_without_what_costs_need_says_so(tmp_path):
    lacking = {"Lance": {**VALUES["CSV"]}, "ORC": {"size": 1e9}}
    found = results_of(VALUES | lacking)
    answer = recommend(found, {Measure("size"): 1})
    bill = cost.bill(answer, found.records, cost.read_cloud(cloud(tmp_path)))
    assert set(bill.costs) == {"Parquet, no codec", "CSV"}
    assert "of Lance, a directory of files, were not counted" in bill.missing["Lance"]
    assert bill.missing["ORC"] == (
        "ORC has no save CPU time of eq: not measured; cpu_hour = 0 leaves CPU time out"
    )


def test_each_mistake_in_a_file_of_prices_has_a_line(tmp_path):
    export(results_of(VALUES).records, tmp_path / "results.jsonl")
    path = cloud(tmp_path, saves='"many"', reads=-1, parts="true")
    path.write_text(path.read_text().replace("cpu_hour", "cpu_our").replace("currency", "money"))
    done = run("recommend", tmp_path / "results.jsonl", "--weight", "size=1", "--cloud", path)
    assert (done.returncode, done.stdout) == (2, "")
    lines = [line.partition("prices.toml: ")[2] for line in done.stderr.splitlines()]
    assert lines == [
        "money: unknown; it can be name, currency, date, source, prices and use",
        "currency is missing",
        (
            "prices.cpu_our: unknown; it can be gigabyte_bytes, put_1000, get_1000, gb_month, gb_out "
            "and cpu_hour"
        ),
        "prices.cpu_hour is missing",
        "use.saves: 'many' is no number",
        "use.reads: -1 is negative or not finite",
        "use.parts: True is no number",
    ]


def test_the_command_prints_costs_and_an_example_that_it_takes(tmp_path):
    printed = run("recommend", "--cloud-example")
    assert printed.stdout == cost.example()
    (tmp_path / "prices.toml").write_text(printed.stdout, encoding="utf-8")
    export(results(results_of(VALUES).records).records, tmp_path / "results.jsonl")
    arguments = ("recommend", tmp_path / "results.jsonl", "--weight", "size=1")
    arguments += ("--cloud", tmp_path / "prices.toml")
    done = run(*arguments)
    assert done.returncode == 0, done.stderr
    assert "USD for 1 kept, 30 saves, 1,000 reads a month" in done.stdout
    assert "is cheapest for any number of whole reads a month." in done.stdout
    assert run("report", tmp_path / "results.jsonl", "--out", tmp_path / "r.html").returncode == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "USD for 1 kept, 30 saves, 1,000 reads a month" in page
    assert "is cheapest for any number of whole reads a month." in page
    answer = json.loads(run(*arguments, "--json").stdout)
    assert [each.message for each in undocumented(answer)] == []
    (first, *_) = answer["cost"]["costs"]
    assert first["name"] == "Parquet, no codec"
    assert first["year"] == pytest.approx(12 * first["month"])
