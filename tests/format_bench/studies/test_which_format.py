"""The page that answers typical cases from results."""

from __future__ import annotations

import re

import pytest

from format_bench.recommendation import Requirement
from format_bench.studies.declared import study
from format_bench.studies.declared.answers import Answers, Case
from tests.factories.records import results_of
from tests.helpers import ROOT

SECONDS = {
    "CSV": {"save time": 4.0, "read time": 4.0, "size": 2e6},
    "Parquet": {"save time": 1.0, "read time": 1.0, "size": 1e6},
    "Pickle": {"save time": 0.1, "read time": 0.1, "size": 3e6},
}


def cases():
    declared = study.read("which-format")
    return [case for each in declared.sections if isinstance(each, Answers) for case in each.cases]


def test_a_dozen_cases_name_pages_that_exist():
    assert len(cases()) >= 12
    for case in cases():
        assert case.evidence, case.case
        for page in case.evidence:
            assert (ROOT / "docs" / page).is_file(), (case.case, page)


def test_the_cells_of_each_case_are_measured():
    declared = study.read("which-format")
    parts = [declared.cells | each for each in ({}, *declared.further_cells)]
    measured = {
        (str(part.get("suite", declared.suite)), dataset)
        for part in parts
        for dataset in str(part["datasets"]).split(",")
    }
    assert {(case.suite, case.dataset) for case in cases()} <= measured


def test_a_case_is_answered_by_its_own_weights_among_its_own_formats():
    results = results_of(SECONDS, dataset="flights")
    case = Case(case="", wants="", suite="tabular", dataset="flights", weights={"save_time": 1})
    assert case.answer(results).first.candidate.name == "Pickle"
    safe = Case(
        case="",
        wants="",
        suite="tabular",
        dataset="flights",
        weights={"size": 1},
        require=[Requirement.SAFE],
    )
    assert safe.answer(results).first.candidate.name == "Parquet, no codec"
    text = Case(
        case="",
        wants="",
        suite="tabular",
        dataset="flights",
        weights={"size": 1},
        formats=["CSV", "HDF5[h5py]"],
    )
    assert text.answer(results).first.candidate.name == "CSV"


def test_the_page_has_an_answer_or_a_reason_for_each_case():
    page = study.read("which-format").page(results_of(SECONDS, dataset="flights")).markdown()
    rows = dict(re.findall(r"^\| ([^|]+?) +\| ([^|]+?) +\|", page, re.MULTILINE))
    assert rows["A cache of one program"] == "**Pickle**"
    assert "df.to_pickle(" in page
    assert rows["Images for training"] == "-"
    assert "Not answered: these results have nothing of the suite image." in page
    assert "Not answered: there is no data set in" in page


@pytest.mark.parametrize("label", ["Kryo[jvm]", "JSON.jackson[jvm]", "Kryo[jvm-seed]"])
def test_brackets_in_patterns_are_those_of_labels(label):
    case = Case(case="", wants="", suite="records", dataset="entities", formats=["*jvm*"])
    assert case._takes(label)
    assert not case._takes("JSON")
