"""`format-bench mcp`: its tools by the SDK's client, and hostile arguments."""

from __future__ import annotations

import asyncio
import json

import pytest

import data_generator
from adapter_core.errors import RefusedError
from format_bench.cli.commands._assistant import LONGEST, Assistant
from format_bench.cli.commands.mcp import server
from format_bench.results.export import export
from tests.commands import run
from tests.factories.answers import undocumented
from tests.factories.records import record

NAMES = ("list_names", "recommend", "predict", "show_code", "compare")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with two results, a table, and a link that leads out of it."""
    whole = tmp_path_factory.mktemp("outside")
    place = whole / "inside"
    place.mkdir()
    for factor, name in enumerate(("one", "two"), start=1):
        written = []
        for number, dataset in enumerate(("eq", "str", "core", "log", "kaons"), start=1):
            for label, size, seconds in (("CSV", 9e5, 0.9), ("Parquet", 2e5, 0.2), ("ORC", 3e5, 0.3)):
                facts = {"dataset": dataset, "rows": 100}
                written += [
                    record(label, "size", size * number * factor, **facts),
                    record(label, "read time", seconds * number * factor, **facts),
                    record(label, "save time", seconds * number, **facts),
                ]
        (place / name).mkdir()
        export(written, place / name / "results.jsonl")
    data_generator.table("eq", rows=50).df.to_csv(place / "mine.csv", index=False)
    (whole / "secret.csv").write_text("a\n1\n", encoding="utf-8")
    (place / "link.csv").symlink_to(whole / "secret.csv")
    return place


@pytest.fixture
def tools(folder):
    found = {each.__name__: each for each in Assistant(folder.resolve()).tools}
    assert tuple(found) == NAMES
    return found


def called(folder, name, **arguments):
    """Call a tool by a client of the SDK, which is connected in memory."""
    mcp = pytest.importorskip("mcp")

    async def call():
        async with mcp.Client(server(folder)) as client:
            return await client.call_tool(name, arguments)

    return asyncio.run(call())


# Tools


def test_the_client_sees_tools_with_schemas_that_only_read(folder):
    mcp = pytest.importorskip("mcp")

    async def listed():
        async with mcp.Client(server(folder)) as client:
            return (await client.list_tools()).tools

    tools = asyncio.run(listed())
    assert tuple(each.name for each in tools) == NAMES
    assert all(each.annotations.read_only_hint for each in tools)
    assert all(each.description and "\n" not in each.description for each in tools)
    recommend = next(each for each in tools if each.name == "recommend")
    assert set(recommend.input_schema["properties"]) == {"results", "preset", "weights", "require"}


@pytest.mark.parametrize(
    ("name", "arguments", "phrase"),
    [
        ("list_names", {"kind": "metrics"}, "read time"),
        ("list_names", {"kind": "presets"}, "archive"),
        ("recommend", {"results": "one", "weights": {"size": 1.0}}, "Parquet, no codec"),
        ("predict", {"data": "mine.csv", "results": ["one"]}, "nearest"),
        ("show_code", {"label": "Parquet", "codec": "zstd:3"}, "compression_level=3"),
        ("compare", {"a": "one", "b": "two"}, "ratio"),
    ],
)
def test_the_client_calls_each_tool(folder, name, arguments, phrase):
    found = called(folder, name, **arguments)
    assert not found.is_error, found.content
    assert phrase in "".join(each.text for each in found.content)
    assert found.structured_content


def test_answers_have_the_schema_of_the_command(tools):
    answer = json.loads(json.dumps(tools["recommend"]("one", preset="archive")))
    assert [each.message for each in undocumented(answer)] == []
    answer = json.loads(json.dumps(tools["predict"]("mine.csv", ["one", "two"])))
    assert [each.message for each in undocumented(answer)] == []


@pytest.mark.parametrize("kind", ["formats", "datasets", "suites", "conditions", "requirements"])
def test_lists_have_names(tools, kind):
    found = tools["list_names"](kind)
    assert len(found) > 3
    assert json.dumps(found)


def test_published_results_are_named_without_a_file(tools):
    assert tools["recommend"]("thesis", weights={"size": 1})["results"] == "thesis"


# Hostile arguments

HOSTILE = (
    "../secret.csv",
    "/etc/passwd",
    "link.csv",
    "~/.ssh/id_rsa",
    "s3://bucket/x.parquet",
    "http://127.0.0.1/x.csv",
    "one/../../secret.csv",
    "a\0b",
    "\x1b[2J.csv",
    "",
    "x" * 5000,
    "$(touch here).csv",
    "file:///etc/passwd",
)


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("tool", ["recommend", "predict", "compare"])
def test_files_elsewhere_are_refused_in_one_line(tools, folder, tool, text):
    before = sorted(folder.iterdir())
    arguments = {"recommend": (text,), "predict": (text, ["one"]), "compare": (text, "one")}[tool]
    with pytest.raises(RefusedError) as error:
        tools[tool](*arguments)
    message = str(error.value)
    assert message == " ".join(message.split())
    assert message.isprintable()
    assert len(message) <= LONGEST
    assert "root:" not in message
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    ("tool", "arguments", "phrase"),
    [
        ("recommend", {"results": "one", "preset": "<script>"}, "there is no"),
        ("recommend", {"results": "one", "weights": {"sise": 1}}, "did you mean size"),
        ("recommend", {"results": "one", "weights": {"size": float("nan")}}, "number from 0 on"),
        ("recommend", {"results": "one", "weights": {"size": -1}}, "number from 0 on"),
        ("recommend", {"results": "one", "require": ["everything"]}, "there is no"),
        ("show_code", {"label": "Parque"}, "did you mean Parquet"),
        ("show_code", {"label": "Parquet", "codec": "zstd:99"}, "levels 1 to 22"),
        ("show_code", {"label": "Parquet", "codec": '"); import os; ("'}, "codec"),
        ("show_code", {"label": "CSV", "family": "../x"}, "there is no"),
    ],
)
def test_other_bad_arguments_are_refused(tools, tool, arguments, phrase):
    with pytest.raises(RefusedError, match=phrase):
        tools[tool](**arguments)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("list_names", {"kind": "secrets"}),
        ("recommend", {"results": ["one"]}),
        ("recommend", {"results": {"a": {"b": []}}}),
        ("predict", {}),
        ("predict", {"data": "../secret.csv", "results": ["one"]}),
        ("show_code", {"label": 3, "codec": None}),
    ],
)
def test_the_client_gets_an_error_that_is_a_result(folder, name, arguments):
    found = called(folder, name, **arguments)
    assert found.is_error
    assert "Traceback" not in found.content[0].text


def test_a_folder_that_is_missing_is_one_line(tmp_path):
    done = run("mcp", tmp_path / "missing")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
