"""Contract of query engines: every engine on every format gives NumPy's answer to every question."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

import pyarrow as pa
import pytest

import query_engines
from adapter_core import CannotHoldError, UnknownNameError, UnsupportedError
from adapter_core.codecs import algorithm_of
from adapter_core.errors import WrongValuesError
from adapter_core.query import COUNT, TABLE, Aggregate, Query
from format_bench.conformance.cards import differences, table_for
from format_bench.conformance.footers import told_by
from format_bench.families.queries.operations import EngineQuery, QueryOperations
from format_bench.recommendation.card import card
from format_bench.verification.answers import Answer, difference
from tests.helpers import chosen

ROWS = {"query": 2000, "query-nested": 400, "query-wide": 2, "flights": 1500, "core": 1500}
PAIRS = chosen(query_engines, __name__)


@pytest.fixture(scope="module")
def subjects(tmp_path_factory):
    """Return the tables of data sets, made and stored when they are asked for first."""
    folder, made = tmp_path_factory.mktemp("data"), {}

    def of(name):
        if name not in made:
            QueryOperations.store(QueryOperations.generate(name, ROWS[name]), folder / name)
            made[name] = QueryOperations.load(folder / name)
        return made[name]

    return of


def pair_of(label):
    pair = query_engines.find(label)
    if not (answer := pair.availability()):
        pytest.skip(answer.reason)
    return pair


def answers(pair, data, folder):
    """Return the difference of each answer from the reference by question; None if unsupported."""
    file = folder / f"{pair.label}.tables"
    pair.save(data.tables, file)
    paths = pair.paths(file, data.facts.names)
    found = {}
    for name, query in data.facts.asked.items():
        if isinstance(query, str):
            continue
        try:
            pair.engine.check(pair.format.label, query)
        except UnsupportedError as error:
            assert pair.label.partition("[")[0] in str(error)
            found[name] = None
            continue
        opened = EngineQuery(pair, paths, name, query)
        try:
            found[name] = _sentence(opened, data)
        finally:
            opened.close()
    return found


def _sentence(opened, data):
    try:
        opened.verify(opened.read(), data)
    except WrongValuesError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("label", PAIRS)
def test_all_answers_equal_those_of_numpy(label, subjects, tmp_path):
    found = answers(pair_of(label), subjects("query"), tmp_path)
    assert {name: each for name, each in found.items() if each} == {}
    assert Counter(each is None for each in found.values())[False] >= 26


@pytest.mark.parametrize("label", ["DuckDB[duckdb]", "Parquet[datafusion]", "Parquet[pandas]"])
@pytest.mark.parametrize("dataset", ["core", "flights"])
def test_real_columns_with_nulls_are_answered_alike(label, dataset, subjects, tmp_path):
    found = answers(pair_of(label), subjects(dataset), tmp_path)
    assert {name: each for name, each in found.items() if each} == {}
    assert len(found) >= 25


@pytest.mark.parametrize("label", ["Feather[pyarrow]", "Parquet[polars]"])
def test_few_of_very_many_columns_are_found(label, subjects, tmp_path):
    found = answers(pair_of(label), subjects("query-wide"), tmp_path)
    assert found["wide-10"] == ""


OF_RECORDS = ["DuckDB[duckdb]", "Feather[polars]", "JSON[polars]", "Lance[lance]", "ORC[pyarrow]"]
OF_RECORDS += ["Parquet[datafusion]", "Parquet[duckdb]", "Parquet[pyarrow]", "Vortex[vortex]"]


@pytest.mark.parametrize("label", OF_RECORDS)
def test_a_field_of_records_is_read(label, subjects, tmp_path):
    found = answers(pair_of(label), subjects("query-nested"), tmp_path)
    assert found == {"count": "", "open": "", "field": ""}


OF_FORMATS = list({label.rpartition("[")[0]: label for label in PAIRS}.values())


@pytest.mark.parametrize("label", OF_FORMATS)
def test_the_files_that_are_asked_tell_what_the_card_says(label, tmp_path):
    pair = pair_of(label)
    df = table_for(pair.format)
    pair.save({TABLE: df}, tmp_path / "tables")
    assert differences(pair, "", tmp_path / "tables", len(df)) == ""
    codec = told_by(pair.paths(tmp_path / "tables")[TABLE]).get("codec")
    if codec not in {None, "none"}:
        assert algorithm_of(card(pair)["saves with"]) == algorithm_of(str(codec))


def test_every_pair_names_a_format_and_an_engine():
    engines = {each.label: each for each in query_engines.engines()}
    for label in PAIRS:
        pair = query_engines.find(label)
        assert label == pair.label == f"{pair.format.label}[{pair.engine.label}]"
        assert pair.format.label in engines[pair.engine.label].reads
        assert {*pair.format.requires, *pair.engine.requires} == {*pair.requires}
    with pytest.raises(UnknownNameError, match="Parquet"):
        query_engines.find("Parquet[nobody]")
    with pytest.raises(UnknownNameError):
        query_engines.find("Excel[duckdb]")


def test_parts_that_an_engine_lacks_are_unsupported_with_a_sentence():
    engine = query_engines.find("Parquet[datafusion]").engine
    with pytest.raises(
        UnsupportedError, match="datafusion does not answer this from Parquet: it gives no"
    ):
        engine.check("Parquet", Query(columns=["a"], positions=[1]))
    engine.check("Parquet", Query(aggregates=[Aggregate(COUNT)]))


def test_a_table_that_the_format_cannot_hold_is_refused_as_a_whole(tmp_path):
    pair = pair_of("CSV[pyarrow]")
    data = QueryOperations.generate("query-nested", 5)
    with pytest.raises(CannotHoldError):
        pair.save(data.tables, tmp_path / "file.tables")
    assert not list(tmp_path.iterdir())


def test_times_that_an_engine_finds_in_texts_are_compared_as_times():
    texts = pa.table({"at": ["2013-01-01T10:00:00Z", "2013-01-01T11:00:00Z", None]})
    wanted = Answer(texts, order=["at"])
    hours = [datetime(2013, 1, 1, hour, tzinfo=UTC) for hour in (10, 11)]
    found = pa.table({"at": pa.array([*hours, None], pa.timestamp("s", "UTC"))})
    assert difference(found, wanted) == ""
    later = pa.table({"at": pa.array([hours[0], hours[0], None], pa.timestamp("us", "UTC"))})
    assert difference(later, wanted) == "values of column 1, at, differ"
    words = Answer(pa.table({"at": ["10 o'clock", "11 o'clock", None]}))
    assert difference(found, words) == "values of column 1, at, differ"
