"""Files of questions: fields, areas, and one line for each mistake, with the file and the entry."""

from __future__ import annotations

import pytest

from adapter_core.errors import InvalidQuestionsError
from format_bench.families.questions import Questions, declared


def of(text):
    return Questions((("mine.toml", text),))


ENTRY = '[[question]]\nname = "a"\n'


def test_an_entry_without_words_is_described_by_its_fields():
    (found,) = of(ENTRY + 'group = "city"\naggregates = ["count"]').by_name.values()
    assert str(found) == "group city; aggregates [count]"
    assert found.kind == "tables"


def test_areas_are_named_and_joined():
    text = "[areas]\nplace = { x = [1, 1] }\n" + ENTRY + 'area = ["place", { y = [0, 2.5] }]'
    (found,) = of(text).by_name.values()
    assert found.kind == "arrays"
    assert found.fields == {"area": {"x": [1, 1], "y": [0, 2.5]}}


def test_the_fingerprint_is_of_what_is_asked():
    first = of(ENTRY + 'columns = ["x"]').by_name["a"].fingerprint
    assert of(ENTRY + 'words = "all of x"\ncolumns = ["x"] # as ever').by_name["a"].fingerprint == first
    assert of(ENTRY + 'columns = ["y"]').by_name["a"].fingerprint != first


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("question = ]", "mine.toml: is not TOML: .*line 1"),
        (
            "queries = []",
            "mine.toml: unknown field 'queries'; known: datasets, constants, keep_open, mean",
        ),
        ("question = 3", "mine.toml: question is 3; write each question below a line"),
        ('[[question]]\ncolumns = ["x"]', "question 1: it needs a name"),
        (ENTRY, "question 'a': it asks nothing; write columns, aggregates, sql or an area"),
        (ENTRY + "wher = []", "question 'a': unknown field 'wher'; did you mean 'where'"),
        (ENTRY + "columns = 3", r"question 'a': columns is 3; write \[\"one\", \"two\"\]"),
        (ENTRY + "limit = true", "limit is True; write a number of rows"),
        (ENTRY + 'where = [{ colum = "x" }]', "unknown field 'colum'; did you mean 'column'"),
        (ENTRY + 'where = [{ column = "x", share = 2 }]', "share is 2; write a share of the rows"),
        (ENTRY + 'area = "place"', "there is no area 'place'; declare it below"),
        (ENTRY + "area = { x = [1] }", r"bounds of x are \[1\]; write two numbers"),
        (ENTRY + 'area = { x = [1, 2] }\ncolumns = "*"', "'area' asks an array and 'columns' a table"),
        (2 * (ENTRY + "shape = true\n"), "question 'a': another one has this name; rename one of them"),
        (ENTRY + 'shape = true\n[tuned.data]\nsort_by = ["x"]', r"\[tuned.data\]: write sort_by"),
    ],
)
def test_a_mistake_is_one_line_with_the_file_and_the_entry(text, reason):
    with pytest.raises(InvalidQuestionsError, match=reason) as caught:
        dict(of(text).by_name)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("mine.toml: ")


def test_a_file_without_questions_or_text_is_refused(tmp_path):
    path = tmp_path / "mine.toml"
    with pytest.raises(InvalidQuestionsError, match=r"mine.toml: No such file"):
        Questions.of(path)
    path.write_text("", encoding="utf-8")
    with pytest.raises(InvalidQuestionsError, match="contains no question; write each below a line"):
        Questions.of(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidQuestionsError, match="is not UTF-8 text"):
        Questions.of(path)


def test_names_of_a_family_are_in_order_and_can_be_fewer():
    asked = declared("arrays")
    assert list(asked.by_name)[:2] == ["Q1", "Q2"]
    assert list(asked.only("Q7", "Q3").by_name) == ["Q7", "Q3"]
    assert not declared("images").by_name
