"""Summaries of a user's own data: correct, short, and machine-readable."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

import data_generator
from adapter_core import Kind
from data_generator.synthetic.edge_case_images import edge_case_images, random_image
from data_generator.synthetic.edge_case_tables import edge_case_tables
from data_generator.user.image_folder import load_image_folder
from data_generator.user.summary import (
    KEPT_HASHES,
    SLICE_ROWS,
    count_distinct,
    describe,
    describe_images,
)
from format_bench.cli.summaries import show_data

EDGE_CASES = edge_case_tables()


def shown(found, width=80, **options) -> list[str]:
    file = io.StringIO()
    show_data(Console(file=file, width=width, **options), found)
    return file.getvalue().splitlines()


def only(values, dtype=None):
    return describe(pd.DataFrame({"c": pd.Series(values, dtype=dtype)})).columns[0]


def test_columns_are_described():
    number = only([3, None, -1.5, 3])
    assert (number.null_share, number.distinct, number.least, number.greatest) == (0.25, 2, -1.5, 3.0)
    text = only(["äöü", "", None, ""])
    assert (text.distinct, text.longest, text.least) == (2, 3, None)
    assert only([b"abc", b""]).longest == 3
    assert only(pd.to_datetime(["2020-01-02", "1999-12-31"])).least == "1999-12-31 00:00:00"
    assert only([True, False, True]).distinct == 2
    mixed = only([1, "x", None, 2.5])
    assert (mixed.kind, mixed.types) == (
        "Python objects of mixed or unknown type",
        ("float", "int", "str"),
    )


def test_a_table_is_described():
    df = data_generator.table("webface", rows=100).df
    found = describe(df)
    assert (found.rows, len(found.columns)) == df.shape
    assert found.memory_bytes == df.memory_usage(index=False, deep=True).sum()


@pytest.mark.parametrize("name", EDGE_CASES)
def test_any_column_is_described_counted_and_fit_for_json(name):
    df = EDGE_CASES[name]
    found = describe(df)
    json.loads(json.dumps(found.to_dict(), allow_nan=False))
    column = found.columns[0]
    assert column.null_share == df["c"].isna().mean()
    if column.distinct is not None and column.kind != Kind.MIXED:
        assert column.distinct == df["c"].nunique()


def test_few_different_values_are_counted_in_a_column_of_many_slices():
    column = pd.Series(np.arange(2 * SLICE_ROWS + 5) % 1_000)
    assert count_distinct(column) == (1_000, True)


def test_as_many_values_as_are_kept_are_counted_and_one_more_is_estimated():
    assert count_distinct(pd.Series(np.arange(KEPT_HASHES))) == (KEPT_HASHES, True)
    assert count_distinct(pd.Series(np.arange(KEPT_HASHES + 1)))[1] is False


@pytest.mark.parametrize("values", [300_000, 1_500_000])
def test_many_different_values_are_estimated(values):
    estimate, is_exact = count_distinct(pd.Series(np.arange(values) * 1.5))
    assert not is_exact
    assert abs(estimate / values - 1) < 5 / np.sqrt(KEPT_HASHES - 2)


@pytest.mark.parametrize("options", [{}, {"force_terminal": True, "color_system": None}])
def test_lines_fit_on_a_terminal(options):
    wide = {f"{'long name ' * 5}{i} [red]": 10**i for i in range(19)}
    df = pd.concat(
        [
            pd.DataFrame([wide]),
            EDGE_CASES["datetimes with a zone"],
            EDGE_CASES["very long text"][["c"]].set_axis(["t"], axis=1),
        ],
        axis=1,
    )
    lines = shown(describe(df), **options)
    assert max(map(len, lines)) <= 80
    assert len(lines) < 30
    assert sum("…" in line for line in lines) > 10


def test_every_column_of_a_table_of_thirty_has_a_line_and_wider_ones_are_summed_up():
    thirty = pd.DataFrame({f"c{i}": [i, i + 1] for i in range(30)})
    lines = shown(describe(thirty))
    assert lines[0] == "2 rows, 30 columns, 480 B in memory"
    assert [line.split()[0] for line in lines[2:]] == list(thirty)
    summed = shown(describe(thirty.assign(more=["x", None])))
    assert [line.split()[:4] for line in summed[2:]] == [
        ["30", "integers", "0", "%"],
        ["1", "text", "50", "%"],
    ]


def test_output_to_a_file_is_plain_and_names_cannot_obey():
    df = pd.DataFrame({"\x1b[31mred\n[bold]x": [1.5]})
    text = "\n".join(shown(describe(df), width=1000))
    assert "\x1b" not in text
    assert "[31mred [bold]x" in text
    assert text.isprintable() or text.replace("\n", "").isprintable()


def test_images_are_described():
    images, labels = (
        [random_image(4, 5, 3), random_image(4, 5, 3), random_image(9, 9), random_image(2, 2, 4)],
        [1, 1, 2, 0],
    )
    found = describe_images(images, labels)
    assert found.to_dict() == {
        "images": 4,
        "shapes": 3,
        "smallest": (2, 2, 4),
        "largest": (9, 9),
        "channels": {0: 1, 3: 2, 4: 1},
        "labels": 3,
        "raw_bytes": 2 * 60 + 81 + 16,
    }
    lines = shown(found)
    assert lines[0] == "4 images, 217 B of pixels, 3 labels"
    assert lines[1] == "3 shapes, from (2, 2, 4) to (9, 9)"
    assert "2 images with 3 channels" in lines


@pytest.mark.parametrize("name", [name for name, (images, _) in edge_case_images().items() if images])
def test_any_set_of_images_is_described(name):
    images, labels = edge_case_images()[name]
    found = describe_images(images, labels)
    assert found.raw_bytes == sum(image.nbytes for image in images)
    assert sum(found.channels.values()) == found.images
    json.dumps(found.to_dict())
    assert shown(found)


def test_images_of_a_folder_are_described_without_decoding_them(tmp_path):
    from PIL import Image

    path = tmp_path / "a.png"
    Image.fromarray(random_image(90, 90, 3)).save(path)
    path.write_bytes(path.read_bytes()[:5_000])
    found = load_image_folder(tmp_path)
    assert describe_images(found.images, found.labels).raw_bytes == 90 * 90 * 3
