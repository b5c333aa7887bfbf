"""Page of own tables in a real browser: profile and ranking of `format-bench predict`."""

from __future__ import annotations

import datetime
import decimal
import json
import random
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import data_generator
from adapter_core.errors import InvalidDataError, UnavailableError
from data_generator.user.table import load_table
from format_bench.dashboard.layout import framed
from format_bench.dashboard.pages import own_table
from format_bench.dashboard.pages.own_table import NAME
from format_bench.prediction.predicted import MeasuredTable, Predictor
from format_bench.prediction.table_profile import profile_of
from format_bench.recommendation import Requirement
from format_bench.recommendation.code import code_of
from format_bench.results.candidates import Configuration
from format_bench.results.metrics import Measure
from format_bench.results.records import Record
from format_bench.results.status import CellStatus
from tests.factories.records import record
from tests.format_bench.report.test_chooser_in_browser import Wish, choose, shown
from tests.format_bench.report.test_report_in_browser import browser, check_contrast, unfold
from tests.helpers import watched_pages

__all__ = ["browser"]

TABLES = ("eq", "int", "float", "bool", "str", "core", "log", "kaons", "geo")
FORMATS = ("CSV", "Parquet", "Feather", "ORC", "JSON", "Pickle", "Parquet[polars]")
MEASURES = (("save time", None), ("read time", "warm"), ("read time", "cold"), ("size", None))
CONFIG = SimpleNamespace(project="FormatBench", project_url="https://example.org/p")


def cells(number: int, profile) -> dict[tuple[Configuration, Measure], Record]:
    """Return invented values of a table, which follow from its profile up to some noise."""
    chance, found = random.Random(number), {}
    facts = {"dataset": TABLES[number], "rows": profile.rows, "columns": profile.columns}
    for place, label in enumerate(FORMATS):
        for metric, cache in MEASURES:
            log = profile.features["texts"] * place + profile.features["nulls"] + chance.gauss(0, 0.2)
            unit = "bytes" if metric == "size" else "seconds"
            value = profile.extent(unit) * np.exp(log) * (1 if metric == "size" else 1e-5)
            found[len(found)] = record(label, metric, float(value), cache=cache, **facts)
        lost = {"sentence": "column a: text came back as bytes"} if label == "CSV" else {}
        found[len(found)] = record(label, "lost columns", number % 3 if lost else 0, **lost, **facts)
    if number == 2:
        empty = {"status": CellStatus.FAILED, "sentence": "it broke"}
        found[len(found)] = record("JSON", "lost columns", None, **empty, **facts)
    return {(Configuration.of(each), Measure.of(each).comparable): each for each in found.values()}


@pytest.fixture(scope="module")
def measured():
    profiles = [
        profile_of(data_generator.table(name, rows=200 + 50 * n).df) for n, name in enumerate(TABLES)
    ]
    return [MeasuredTable(f"{TABLES[n]}, {p.rows} rows", p, cells(n, p)) for n, p in enumerate(profiles)]


@pytest.fixture(scope="module")
def address(measured, tmp_path_factory):
    """Return the address of the page."""
    try:
        own_table.READER.build()
    except UnavailableError as error:
        pytest.skip(str(error))
    page = own_table.page(measured)
    path = tmp_path_factory.mktemp("site") / page.file_name
    path.write_text(framed(page, [page], CONFIG), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def opened(browser, address):
    """Return a function that opens the page without a network; requests and messages fail the test."""
    with watched_pages(browser, lambda url, page: url in (page, "data:,")) as open_page:

        def offline(width=1400):
            page = open_page(address, width)
            page.context.set_offline(True)
            return page

        yield offline


def give(page, path) -> str:
    """Give a file to the page, and return the status that it shows then."""
    page.locator("#own-file").set_input_files(path)
    status = page.locator("#own-status")
    # Functions that the page is asked to wait for are texts, which its policy does not evaluate.
    status.filter(has_not_text=re.compile("^Reading")).wait_for()
    return status.inner_text()


# Files


def nulls() -> pd.DataFrame:
    chance = np.random.default_rng(1)
    df = pd.DataFrame(
        {
            "number": range(700),
            "gaps": pd.array(chance.integers(0, 9, 700), "Int64"),
            "share": chance.random(700),
            "name": chance.choice(["ann", "bob", "", "N/A", "cy"], 700),
            "is": chance.choice([True, False, None], 700),
            "all": [True, False] * 350,
            "day": pd.date_range("2024-02-28", periods=700).strftime("%Y-%m-%d"),
            "at": pd.date_range("2024-02-28", periods=700, freq="7h").strftime("%Y-%m-%dT%H:%M:%SZ"),
            "none": None,
            "no day": ["2024-02-30"] * 700,
        }
    )
    df.loc[::7, "gaps"] = pd.NA
    return df


def unicode() -> pd.DataFrame:
    texts = [
        "\N{GRINNING FACE}",
        "\uffee",
        "zebra",
        "été",
        "漢字",
        "a\nb",
        'quote " and , comma',
        "e" + "\u0301",
    ]
    chance = random.Random(2)
    return pd.DataFrame(
        {"text": chance.choices(texts, k=900), "\N{SNOWMAN}": chance.choices(texts[:3], k=900)}
    )


def wide() -> pd.DataFrame:
    chance = np.random.default_rng(3)
    plain = {f"c{number}": chance.integers(0, 1 + number, 60) for number in range(300)}
    kinds = {
        "i8": np.arange(60, dtype="int8"),
        "u16": np.arange(60, dtype="uint16"),
        "f32": chance.random(60, dtype="float32"),
        "f16": chance.random(60).astype("float16"),
        "gaps": pd.array([1, None, 3] * 20, "Int32"),
        "category": pd.Categorical(["x", "y", "z"] * 20),
        "date": [datetime.date(2024, 1, 1 + n % 28) for n in range(60)],
        "clock": [datetime.time(n % 24, n % 60) for n in range(60)],
        "price": [decimal.Decimal(n) / 4 for n in range(60)],
        "bytes": [bytes([n]) * (n % 5) for n in range(60)],
        "zoned": pd.date_range("2024", periods=60, tz="Europe/Prague"),
        "naive": pd.date_range("2024", periods=60),
        "lasts": pd.to_timedelta(np.arange(60)[::-1], "s"),
        "is": [True, None, False] * 20,
        "text": ["one", None, "three"] * 20,
    }
    return pd.DataFrame(plain | kinds)


def numbers() -> pd.DataFrame:
    chance = np.random.default_rng(4)
    return pd.DataFrame(
        {
            "big": np.arange(12_000) + 2**61,
            "unsigned": np.arange(12_000, dtype="uint64") + 2**63,
            "wave": np.sin(np.arange(12_000)),
            "infinite": chance.choice([1.5, np.inf, -np.inf], 12_000),
            "late": [1] * 11_999 + [2.5],
            "late gap": pd.array([1] * 11_999 + [None], "Int64"),
            "unsigned gap": pd.array([2**64 - 1] * 11_999 + [None], "UInt64"),
        }
    )


def late_facts() -> list[dict[str, object]]:
    """Return records whose last ones have a name, and a type, that the others have not."""
    first = [{"a": n, "b": n / 2, "c": None if n % 3 else True, "d": 1.0} for n in range(50)]
    return [*first, {"a": 1, "e": "late"}, {"a": 2, "b": "mixed"}]


def texts() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "id": range(40),
            "price": [n / 4 for n in range(40)],
            "whole": [float(n) for n in range(40)],
            "note": [f"word {n % 7}" for n in range(40)],
            "digits": [str(n) for n in range(40)],
            "seen": pd.date_range("2024-01-01", periods=40, freq="36h"),
            "is": [n % 3 == 0 for n in range(40)],
            "gaps": [None if n % 4 else n for n in range(40)],
            "words": ["NA", "TRUE", "007", None] * 10,
            "wide": [1e300, None] * 20,
            "unsigned": [1.5e19, 1] * 20,
            "none": None,
        }
    )


FILES = {
    "nulls.csv": lambda path: nulls().to_csv(path, index=False),
    "unicode.jsonl": lambda path: unicode().to_json(
        path, orient="records", lines=True, force_ascii=False
    ),
    "unicode.tsv": lambda path: unicode().to_csv(path, index=False, sep="\t"),
    "wide.parquet": lambda path: wide().to_parquet(path, compression="zstd"),
    "brotli.parquet": lambda path: unicode().to_parquet(path, compression="brotli"),
    "numbers.csv": lambda path: numbers().to_csv(path, index=False, sep=";"),
    "numbers.parquet": lambda path: numbers().to_parquet(path, row_group_size=1_000),
    "text.xlsx": lambda path: texts().to_excel(path, index=False),
    "records.json": lambda path: path.write_text(json.dumps(late_facts()), encoding="utf-8"),
}


def check_ranking(page, found, seed) -> None:
    """Compare the page's ranking with the command's for random weights and requirements."""
    chance, options = random.Random(seed), ["save_time", "read_time", "cold_read_time", "size"]
    for _ in range(3):
        weights = {name: chance.randint(1, 20) / 2 for name in options if chance.random() < 0.7}
        required = [each for each in ("exact", "safe", "portable", "columns") if chance.random() < 0.3]
        speed = chance.choice([None, 12.5])
        wish = Wish("tabular", "", weights or {"size": 1}, required, (speed, None))
        choose(page, wish)
        rows, excluded = shown(page)
        answer = wish.answer(found.results)
        if answer is None:
            assert rows == []
            continue
        assert [each[0] for each in rows] == [each.candidate.name for each in answer.ranked], wish
        scores = [each.score for each in answer.ranked]
        assert [each[1] for each in rows] == pytest.approx(scores, rel=1e-6), wish
        ties = ["best", *("tie" if each.ties else "" for each in answer.ranked[1:])]
        assert [each[3] for each in rows] == ties, wish
        reasons = {
            "; ".join(each.reasons[name] for name in Requirement if name in each.reasons) or each.empty
            for each in answer.excluded
        }
        assert {sentence for _, sentence in excluded} == reasons, wish


def test_profile_and_ranking_are_those_of_the_command(opened, measured, tmp_path):
    page, predictor = opened(), Predictor(measured)
    for name, write in FILES.items():
        write(tmp_path / name)
        expected = profile_of(load_table(tmp_path / name).df)
        status = give(page, tmp_path / name)
        assert status == f"{name}: {expected.rows:,} rows, {expected.columns:,} columns"
        profile = json.loads(page.locator("#own-found").get_attribute("data-profile"))
        assert profile["kinds"] == sorted(expected.kinds), name
        assert profile["features"] == pytest.approx(expected.features, rel=1e-9, abs=1e-12), name
        assert profile["value_bytes"] == pytest.approx(expected.value_bytes, rel=1e-9), name
        prediction = predictor.predict(expected, NAME)
        check_ranking(page, prediction, name)
        remarks = page.locator("#own-remarks").inner_text()
        assert all(table in remarks for table, _ in prediction.nearest)
        assert ("may be much larger" in remarks) == prediction.is_far
        size = prediction.errors[Measure("size")]
        assert f"size by a factor of {size:.2f}" in remarks
        assert page.locator("#own-command").inner_text() == f"format-bench recommend --data {name}"
        assert (
            page.locator("#choose-command code").inner_text().startswith("format-bench recommend --data")
        )


REFUSED = {
    "empty.csv": b"a,b\n",
    "none.json": b"[]",
    "nested.jsonl": b'{"a": [1]}\n',
    "latin.csv": b"a\n\xe9\n",
    "long.csv": b"a,b\n1,2,3\n",
    "twice.csv": b"a,a\n1,2\n",
}


def test_files_without_an_answer_are_refused_as_by_the_command(opened, tmp_path):
    page = opened()
    for name, content in REFUSED.items():
        (tmp_path / name).write_bytes(content)
        if name != "nested.jsonl":
            with pytest.raises(InvalidDataError):
                load_table(tmp_path / name)
        assert give(page, tmp_path / name).endswith("Other files: format-bench predict --data FILE.")
        assert page.locator("#own-found").is_hidden()
    for name in ("damaged.parquet", "damaged.xlsx", "other.bin"):
        (tmp_path / name).write_bytes(b"PAR1 and so on")
        assert give(page, tmp_path / name).endswith("Other files: format-bench predict --data FILE.")


@pytest.mark.parametrize("width", [400, 1400])
def test_it_is_readable_and_has_code_to_paste(opened, width, tmp_path):
    page = opened(width)
    nulls().to_csv(tmp_path / "nulls.csv", index=False)
    give(page, tmp_path / "nulls.csv")
    unfold(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    check_contrast(page)
    rows = page.locator("#choose-table tbody tr")
    assert rows.first.locator("pre code").inner_text() == code_of(
        Configuration(rows.first.locator("th").inner_text(), family="tables")
    )


def test_without_node_the_page_says_so(measured, monkeypatch):
    def unavailable():
        raise UnavailableError("the reader of files", "npm is not installed", "install it")

    monkeypatch.setattr(own_table, "_library", unavailable)
    found = own_table.page(measured)
    assert "This page is unavailable: npm is not installed." in found.body_html
    assert found.scripts == ()
