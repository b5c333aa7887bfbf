"""Charts: axes, order and colours of bars, names of points, and files of charts."""

from __future__ import annotations

import random
import re
from itertools import combinations
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from matplotlib.text import Text

from format_bench.report.charts.axes import scale_of
from format_bench.report.charts.build import pictures
from format_bench.report.charts.figures import PAPER, style
from format_bench.report.model import outline_of
from format_bench.report.theme import SHADES, THEME
from tests.factories.records import labels, measured, record, results


def charts(found):
    """Return all charts but heat maps."""
    return [chart for _, _, drawn, _ in pictures(outline_of(found)) for chart in drawn]


@pytest.mark.parametrize(("most", "logarithmic"), [(19.9, False), (20.0, True)])
def test_an_axis_is_logarithmic_where_a_linear_one_would_hide_the_smallest_bar(most, logarithmic):
    scale = scale_of([1.0, most])
    assert scale.logarithmic is logarithmic
    assert 0 < scale.place(1.0) < scale.place(most) == 1
    assert f"{'logarithmic' if logarithmic else 'linear'} axis" in chart_of(1.0, most).svg


def chart_of(*seconds: float):
    return charts(results([record(f"F{n}", "save time", value) for n, value in enumerate(seconds)]))[0]


def tips(chart) -> list[tuple[str, str]]:
    """Return the colour of each bar or point, which is filled or outlined, and its tooltip."""
    found = re.findall(r"<(?:path|use) ([^>]*)><title>([^<]+)", chart.svg)
    return [(re.search(r'(?:fill|stroke)="(?!#ffffff)([^"]+)"', looks)[1], tip) for looks, tip in found]


@pytest.mark.parametrize(
    "values", [[0.0], [5.0], [0.0, 1e9], [1e-9, 1e9], [-3.0, 2.0], [-2.0, -1.0], [1.0, 1.0], [0, 1, 1e6]]
)
def test_any_values_have_a_scale_with_readable_ticks(values):
    scale = scale_of(values)
    assert all(0 <= scale.place(value) <= 1 for value in values)
    assert 1 <= len(scale.ticks) <= 5
    assert np.all(np.diff([scale.place(tick) for tick in scale.ticks]) > 0)
    assert scale.logarithmic or scale.low <= 0 <= scale.high


def test_bars_are_sorted_and_the_best_and_its_ties_alone_have_the_colour():
    found = results(measured(labels(12), ["eq"]))
    for chart in charts(found):
        if "against" in chart.title or "Read" in chart.title:
            continue
        bars = tips(chart)
        assert len(bars) == 12
        text = [tip.partition(": ")[2] for _, tip in bars]
        sizes = [float(number) * UNITS[unit] for number, unit, *_ in map(str.split, text)]
        assert sizes == sorted(sizes)
        lit = [colour == THEME["accent"][0] for colour, _ in bars]
        assert lit == [tip.endswith(("best", "tie")) for tip in text]
        assert lit[0]
        assert not all(lit)


UNITS = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "µs": 1e-6, "ms": 1e-3, "s": 1}


def test_rows_that_a_screen_has_no_room_for_are_counted():
    (chart,) = charts(results([record(f"F{n:02}", "size", 10 + n) for n in range(40)]))
    assert len(tips(chart)) == 30
    assert "10 more rows in the table" in chart.svg
    assert "40 bars" in chart.alt


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_has_a_contrast_of_four_and_a_half_and_marks_of_three(scheme):
    colours = {name: pair[scheme] for name, pair in THEME.items()}
    for surface in ("paper", "faint"):
        for name in ("ink", "quiet", "accent"):
            assert contrast(colours[name], colours[surface]) >= 4.5, (name, surface)
    for name in ("neutral", "second", "third", "axis", "edge", "focus"):
        assert contrast(colours[name], colours["paper"]) >= 3, name
    # The one colour of a chart differs from the others without its hue, too.
    assert contrast(colours["accent"], colours["neutral"]) >= 1.9
    for shade, pair in SHADES.items():
        assert contrast(colours["ink"], pair[scheme]) >= 4.5, shade
    assert contrast(colours["accent"], SHADES["best"][scheme]) >= 4.5
    assert contrast(colours["quiet"], SHADES["empty"][scheme]) >= 4.5


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours, as WCAG 2.2 defines it."""
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def with_codecs():
    """Yield sizes and read times of 110 configurations, most of them near others."""
    for label in labels(22):
        for codec in (None, "lz4", "zstd", "gzip", "brotli"):
            chance = random.Random(f"{label} {codec}")
            for metric, usual in (("size", 1e6), ("read time", 0.01)):
                value = usual * chance.lognormvariate(0, 0.7)
                yield record(label, metric, value, codec=codec, suite="compression.Compression")


CROWDS = {
    "few": measured(labels(12), ["eq"]),
    "array stores": measured(labels(44), ["era5-small"], suite="arrays.Arrays"),
    "codecs": with_codecs(),
}


@pytest.mark.parametrize("crowd", CROWDS)
def test_names_of_points_overlap_nothing_and_stay_in_the_plot(crowd):
    found = [each for each in charts(results(CROWDS[crowd])) if "against" in each.title]
    assert found
    for chart in found:
        with style():
            figure = chart.figure()
            (axes,) = figure.axes
            figure.draw_without_rendering()
            names = [each for each in axes.texts if each.get_text()]
            # Without the lines that lead from some names to their points.
            boxes = [Text.get_window_extent(each) for each in names]
            (dots,) = (each for each in axes.collections if len(each.get_offsets()) > 1)
            points = axes.transData.transform(dots.get_offsets())
        assert not [pair for pair in combinations(boxes, 2) if overlap(*pair)]
        for box in boxes:
            assert axes.bbox.x0 <= box.x0
            assert box.x1 <= axes.bbox.x1
            assert axes.bbox.y0 <= box.y0
            assert box.y1 <= axes.bbox.y1
            assert not [point for point in points if box.contains(*point)]
        shown = {each.get_text() for each in names}
        ahead = re.search("in both: (.*)\\.$", chart.alt)[1].replace(" and ", ", ").split(", ")
        assert shown >= set(ahead)
        assert len(shown) <= max(12, len(ahead))


def test_lossy_points_are_hollow():
    found = results(measured(["JPEG", "PNG", "QOI"], ["cifar"], suite="image.Image", rows=500))
    (chart,) = (each for each in charts(found) if "against" in each.title)
    assert chart.note.endswith("; hollow: lossy")
    looks = dict(re.findall(r"<use ([^>]*)><title>(\w+)", chart.svg))
    fills = {name: re.search('fill="([^"]+)"', look)[1] for look, name in looks.items()}
    assert [name for name, fill in fills.items() if fill == PAPER] == ["JPEG"]


def overlap(one, other) -> bool:
    return one.x0 < other.x1 and other.x0 < one.x1 and one.y0 < other.y1 and other.y0 < one.y1


def test_a_file_of_a_chart_has_its_colours_and_paper():
    chart = chart_of(1.0, 2.0)
    root = ET.fromstring(chart.svg)
    assert "var(" not in chart.svg
    paper = root.find("{*}rect")
    assert paper.attrib["fill"] == PAPER
    assert root.attrib["viewBox"].split()[2:] == [paper.attrib["width"], paper.attrib["height"]]
    assert {f"var(--{name})" for name in ("ink", "quiet", "accent", "neutral")} <= set(
        re.findall(r'(?:fill|stroke)="([^"]+)"', chart.inline)
    )
    assert "#" not in "".join(re.findall(r'(?:fill|stroke)="([^"]+)"', chart.inline))


def test_a_chart_has_a_bar_and_its_value_for_each_format_and_says_why_one_is_missing():
    (chart,) = charts(
        results([record("A", "size", 2e6), record("B", "size", 3e6), record("C", "size", None)])
    )
    text = "".join(ET.fromstring(chart.svg).itertext())
    assert all(words in text for words in ("A: 2 MB best", "B: 3 MB", "failed", "linear axis"))
    assert len(tips(chart)) == 2
    assert chart.alt == "Size: 2 bars, from A, 2 MB to B, 3 MB; best: A; without a value: C (failed)."


def test_cold_reads_stand_beside_warm_ones():
    found = results(measured(["A", "B"], ["eq"]))
    (chart,) = [each for each in charts(found) if each.title == "Read time: eq"]
    assert len(tips(chart)) == 4
    assert "outlined: cold" in chart.svg
