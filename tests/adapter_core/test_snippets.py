"""Code to paste of all adapters: each snippet runs without this project, and gives what it says."""

from __future__ import annotations

import pandas as pd
import pytest

from adapter_core.errors import UnknownLevelError, UnknownNameError
from adapter_core.snippets import Given, Pasteable, Snippet, filled, keywords, literal
from tests.factories import snippets
from tests.factories.snippets import PACKAGES, Case
from tests.helpers import chosen

# Facts of adapters alone: collecting tests imports no library.
WITH_CODE = [
    (family, label, [each.name for each in getattr(package.find(label), "codecs", ())])
    for family, package in PACKAGES.items()
    for label in chosen(package, __name__)
    if isinstance(package.find(label).snippet, Snippet)
]
EXAMPLES = {
    (family, label): "zstd" if "zstd" in codecs else codecs[0]
    for family, label, codecs in WITH_CODE
    if codecs
}
USUAL = [Case(family, label) for family, label, _ in WITH_CODE]
USUAL += [Case(*of, codec) for of, codec in EXAMPLES.items()]
OTHERS = [
    Case(family, label, codec)
    for family, label, codecs in WITH_CODE
    for codec in codecs
    if codec != EXAMPLES[family, label]
]


@pytest.fixture(scope="module")
def outcome_of(tmp_path_factory):
    """Return a function that runs all cases of a list that are of a case's family, once."""
    found = {}

    def outcome(cases, case):
        if case.unavailable:
            pytest.skip(case.unavailable)
        if case not in found:
            of_family = [each for each in cases if each.family == case.family and not each.unavailable]
            found.update(snippets.run_all(of_family, tmp_path_factory.mktemp("code")))
        return found[case]

    return outcome


def check(case, outcome):
    """Compare what the code read with the data, and each side's file with the other's reader."""
    adapter, snippet = case.adapter, case.adapter.snippet
    assert outcome.error == ""
    assert snippets.difference(case, outcome.data, outcome.read) == ""
    if case.family == "tables":
        changes = snippets.changed_dtypes(outcome.data["df"], snippets.frame(outcome.read))
        assert changes == dict(snippet.changes)
    path = outcome.folder / f"data{adapter.suffix}"
    if snippet.differs:
        with pytest.raises(Exception):  # noqa: B017, PT011 (of any library)
            assert snippets.difference(case, outcome.data, snippets.read(case, path)) == ""
        return
    assert snippets.difference(case, outcome.data, snippets.read(case, path)) == ""
    assert snippets.difference(case, outcome.data, outcome.of_adapters_file) == ""


@pytest.mark.parametrize("case", USUAL, ids=str)
def test_code_runs_without_the_project_and_its_file_is_the_adapters(case, outcome_of):
    check(case, outcome_of(USUAL, case))


@pytest.mark.nightly
@pytest.mark.parametrize("case", OTHERS, ids=str)
def test_code_runs_with_each_codec(case, outcome_of):
    check(case, outcome_of(OTHERS, case))


@pytest.mark.nightly
@pytest.mark.parametrize("dtype", snippets.COLUMNS)
def test_columns_to_convert_before_are_those_that_the_code_cannot_take(dtype, tmp_path):
    cases = [
        each
        for each in USUAL
        if each.family == "tables" and not each.codec and dtype in each.adapter.snippet.lacks
    ]
    taken = []
    ran = snippets.run_all(cases, tmp_path, lambda case: {"df": snippets.table(case.adapter, dtype)})
    for case, outcome in ran.items():
        if not outcome.error and not snippets.difference(case, outcome.data, outcome.read):
            taken.append(case.label)
    assert taken == []


def test_every_adapter_has_code_or_says_why_not():
    silent, sentences = [], set()
    for package in PACKAGES.values():
        for label in package.names():
            snippet = package.find(label).snippet
            if isinstance(snippet, str):
                sentences.add(snippet)
                if len(snippet.split()) < 5 or snippet.endswith("."):
                    silent.append(label)
    assert silent == []
    assert len(sentences) < 30


@pytest.mark.parametrize("label", ["Blosc2", "NPZ", "TileDB"])
def test_code_with_texts_of_fixed_width_keeps_them_whole_among_nulls(label, tmp_path):
    texts = pd.Series(["ab", None, "abc"], dtype="str")
    case = Case("tables", label)
    if case.unavailable:
        pytest.skip(case.unavailable)
    found = snippets.run_all([case], tmp_path, lambda _: {"df": pd.DataFrame({"t": texts})})[case]
    assert found.error == ""
    assert found.read["df"]["t"].tolist() == ["ab", "", "abc"]


def test_code_names_the_codec_and_its_level():
    parquet = PACKAGES["tables"].find("Parquet")
    write = parquet.code("zstd", 3, "a/b.parquet").write
    assert 'df.to_parquet("a/b.parquet"' in write
    assert 'compression="zstd", compression_level=3' in write
    assert "compression_level" not in parquet.code().write
    assert "by default the library uses snappy" in parquet.code().text
    assert "row_group_size=122880" in parquet.with_recommended().code("zstd").write


@pytest.mark.parametrize(
    ("arguments", "error"),
    [(("none",), UnknownNameError), (("zstd", 99), UnknownLevelError), ((None, 3), UnknownLevelError)],
)
def test_unknown_codecs_and_levels_are_errors(arguments, error):
    with pytest.raises(error):
        PACKAGES["tables"].find("Parquet").code(*arguments)


def test_an_empty_placeholder_takes_its_comma_or_its_line_with_it():
    template = """
        f({a}, {b}, {"key": 1})
        {b}
        {c}
    """
    found = filled(template, {"a": "x", "b": "", "c": "one\ntwo"})
    assert found == 'f(x, {"key": 1})\none\ntwo'


def test_literals_are_code():
    value = {"a": [1, None, 'b "c"'], "d": True}
    assert eval(literal(value)) == value
    assert keywords(a=None, b="c") == 'b="c"'


def test_an_adapter_of_another_package_may_have_none():
    class Old(Pasteable):
        label, suffix = "Old", ".old"

    assert Old().code() is None


def test_code_ends_with_both_calls():
    class New(Pasteable):
        label, suffix = "New", ".new"
        snippet = Snippet("import new", "new.save(df, {path})", "df = new.load({path})", Given.FRAME)

    assert New().code().text.splitlines()[-3:] == [
        'new.save(df, "data.new")',
        "",
        'df = new.load("data.new")',
    ]
