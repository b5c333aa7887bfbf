"""The study of table losses: the page in docs is its output, and it finds errors."""

from __future__ import annotations

import pandas as pd
import pytest

import data_formats
from data_generator.synthetic.edge_case_tables import edge_case_tables
from format_bench.conformance import selection
from format_bench.conformance.tables import ordinary
from format_bench.results.display.markdown import table_lines
from format_bench.studies import table_losses
from tests.helpers import run


def test_the_page_in_docs_has_the_losses_of_changed_formats(root, subtests):
    # A change that concerns a format may change its losses; the whole page is made every night.
    lines = (root / "docs/losses.md").read_text(encoding="utf-8").splitlines()
    tables, columns = table_losses.datasets(), edge_case_tables()
    for label in selection.tier.concerned_labels(data_formats.registry, __name__):
        adapter = data_formats.find(label)
        with subtests.test(label):
            if not adapter.availability():
                pytest.skip(adapter.availability().reason)
            (*_, line) = table_lines(["format", *tables], [table_losses.row(adapter, tables)], "l")
            assert line in lines
            for name, df in columns.items():
                section = lines[lines.index(f"### {name}") + 2 :]
                entries = [line[2:].partition(": ") for line in section[: section.index("")]]
                text = table_losses.loss_of_column(adapter, df)
                assert [entry[2] for entry in entries if label in entry[0].split(", ")] == [text]


@pytest.mark.slow
@pytest.mark.nightly
def test_the_page_in_docs_is_up_to_date(root):
    missing = [name for name in data_formats.names() if not data_formats.find(name).availability()]
    if missing:
        pytest.skip(f"not available here: {', '.join(missing)}")
    page = (root / "docs/losses.md").read_text(encoding="utf-8")
    done = run("study", "table-losses")
    assert done.returncode == 0, done.stderr
    assert page == done.stdout, "run: format-bench study table-losses > docs/losses.md"
    assert "wrong" not in page


def test_a_wrong_value_is_shown_as_wrong(monkeypatch):
    adapter = data_formats.get("Pickle")
    monkeypatch.setattr(adapter, "_read", lambda *_: ordinary()[::-1].reset_index(drop=True))
    assert table_losses.round_trip(adapter, ordinary()).startswith(
        "**wrong**: column whole: 4 of 4 values"
    )


def test_refusals_and_losses_are_described():
    orc = table_losses.round_trip(
        data_formats.get("ORC"), pd.DataFrame({"real": [0.5]}, dtype="float16")
    )
    assert orc == "refused: column 'real' contains 16-bit floats; ORC has no type for them"
    csv = table_losses.round_trip(data_formats.get("CSV"), ordinary()[["word"]].astype("category"))
    assert csv == "column word: category came back as str"
