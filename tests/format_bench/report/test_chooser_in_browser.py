"""Chooser of the report in a real browser: the ranking of `format-bench recommend`, and its controls."""

from __future__ import annotations

import json
import random
import shlex
from typing import NamedTuple

import pytest

from adapter_core.errors import NoCandidateError
from format_bench import report
from format_bench.recommendation import Requirement, recommend
from format_bench.recommendation.chooser import chooser_of
from format_bench.recommendation.code import code_of
from format_bench.recommendation.questions import mixed
from format_bench.recommendation.requirements import LANGUAGES
from format_bench.recommendation.scope import of_dataset
from format_bench.recommendation.scoring import Speeds
from format_bench.results.export import export
from format_bench.results.metrics import Measure
from format_bench.results.records import key
from format_bench.results.status import CellStatus
from tests.commands import run
from tests.factories.records import compressed, in_rounds, labels, measured, record, results, results_of
from tests.format_bench.report.test_report_in_browser import (
    browser,
    check_contrast,
    opened,
    unfold,
)

__all__ = ["browser", "opened"]


MEASURES = {
    "tabular": "save_time read_time cold_read_time size save_memory held_memory".split(),
    "image": "save_time read_time random_read_time_per_image size".split(),
}
DATASETS = {"tabular": ["", "eq", "str"], "image": [""]}


def sample_records():
    """Return records of two suites with codecs, losses and cells without a value."""
    odd = [
        record("CSV", "lost columns", 2, sentence="column a: text came back as bytes"),
        record("JSON", "size", None, dataset="str", status=CellStatus.UNSUPPORTED, sentence="too long"),
        record("Ours", "size", 1e6),
        record("Ours", "save time", 0.4, interval=[0.3, 0.5]),
        record("Ours", "read time", 0.2, cache="warm", interval=[0.1, 0.3]),
    ]
    every = [*measured(labels(12), ["eq", "str"]), *odd, *compressed(["eq"])]
    every += measured(["Parquet[polars]", "CSV[polars]"], ["eq"], suite="engines.Engines")
    every += measured(["PNG", "LMDB", "Zarr"], ["cifar"], suite="image.Image", rows=500)
    # The last record of a cell counts, as in a file of results.
    return list({key(each): each for each in every}.values())


QUESTIONS = ["point", "join", "take-1"]


def query_records():
    """Return records of pairs on two tracks, with times of questions, one of them unsupported."""
    facts = {"suite": "query", "dataset": "query"}
    for place, label in enumerate(labels(9), start=1):
        for track in ("defaults", "tuned"):
            yield record(label, "save time", place / 10, track=track, **facts)
            yield record(label, "size", 1e6 / place, track=track, **facts)
            for number, query in enumerate(QUESTIONS):
                for cache in ("warm", "cold"):
                    value = (1 + (place * 7 + number * 5 + len(track + cache)) % 13) / 1000
                    cell = facts | {"track": track, "query": query, "cache": cache}
                    if (number, place % 4) == (2, 1):
                        yield record(
                            *(label, "query time", None),
                            **{**cell, "status": CellStatus.UNSUPPORTED, "sentence": "no row numbers"},
                        )
                    elif (number, place) != (1, 3):  # else not measured
                        ends = [value * 0.9, value * 1.2]
                        yield record(label, "query time", value, interval=ends, **cell)


RESULTS = {
    "queries": results(query_records()),
    "intervals": results(sample_records()),
    "rounds": results(in_rounds(sample_records())),
    "named": results_of(
        {"CSV": {"read time": 2, "size": 3e6}, "Parquet": {"read time": 1, "size": 2e6}}
    ),
    "samples": results_of({"A": {"read time": 1, "size": 2e6}, "B": {"read time": 2, "size": 1e6}}),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return the folder of the reports that are looked at."""
    folder = tmp_path_factory.mktemp("pages")
    for name, found in RESULTS.items():
        (folder / f"{name}.html").write_text(report.page(found), encoding="utf-8")
    return folder


class Wish(NamedTuple):
    """Choice of a reader, as in the address."""

    suite: str
    dataset: str
    weights: dict[str, float]
    required: list[str]
    speeds: tuple[float | None, float | None]

    @property
    def address(self) -> str:
        facts = {
            "suite": self.suite,
            "dataset": self.dataset,
            "weight": ",".join(f"{name}:{weight:g}" for name, weight in self.weights.items()),
            "require": ",".join(self.required),
            "read-speed": self.speeds[0],
            "save-speed": self.speeds[1],
        }
        return "#choose?" + "&".join(f"{name}={value}" for name, value in facts.items() if value)

    def answer(self, found):
        """Return the recommendation of Python; None if no candidate can be chosen."""
        weights = {Measure.named(name): weight for name, weight in self.weights.items()}
        scoped = of_dataset(found, self.dataset) if self.dataset else found
        try:
            return recommend(
                scoped,
                weights,
                map(Requirement, self.required),
                speeds=Speeds.of_megabytes(*self.speeds),
                suite=self.suite,
            )
        except NoCandidateError:
            return None


def random_wish(chance: random.Random) -> Wish:
    suite = chance.choices(list(MEASURES), [4, 1])[0]
    names = chance.sample(MEASURES[suite], chance.randint(1, len(MEASURES[suite])))
    # A language alone would leave few.
    names_of = [str(each) for each in Requirement if str(each) not in LANGUAGES]
    required = [each for each in names_of if chance.random() < 0.15]
    speeds = [chance.choice([None, round(chance.lognormvariate(3, 2), 3)]) for _ in range(2)]
    # Images have no declared requirements, so any of them would exclude all.
    return Wish(
        suite,
        chance.choice(DATASETS[suite]),
        {name: chance.randint(1, 20) / 2 for name in MEASURES[suite] if name in names},
        required if suite == "tabular" else [],
        (speeds[0], speeds[1]),
    )


def choose(page, wish: Wish) -> None:
    page.evaluate(
        """(address) => new Promise((resolve) => {
            addEventListener("hashchange", () => resolve(), { once: true });
            location.hash = address;
        })""",
        wish.address,
    )


def address_of(page) -> str:
    return page.evaluate("location.href")


def shown(page) -> tuple[list[tuple[str, float, str, str]], set[tuple[str, str]]]:
    """Return name, score, place and mark of the ranked, and the excluded with their reasons."""
    rows = page.locator("#choose-table tbody tr").evaluate_all(
        "(rows) => rows.map(({cells}) => [cells[0].textContent, Number(cells[2].dataset.value),"
        " cells[1].textContent, cells[3].textContent])"
    )
    excluded = page.locator("#choose-excluded:not([hidden]) li").evaluate_all(
        "(lines) => lines.map((line) => [line.dataset.name, line.textContent])"
    )
    return [tuple(row) for row in rows], {tuple(each) for each in excluded}


@pytest.mark.parametrize("name", ["intervals", "rounds"])
def test_the_ranking_is_that_of_the_command_for_random_weights_and_requirements(opened, name):
    page, found = opened(name), RESULTS[name]
    chance = random.Random(name)
    sizes = []
    for _ in range(50):
        wish = random_wish(chance)
        choose(page, wish)
        rows, excluded = shown(page)
        answer = wish.answer(found)
        sizes.append(len(rows))
        if answer is None:
            assert rows == []
            assert page.locator("#choose-answer").inner_text().startswith("No format can be chosen")
            continue
        assert [each[0] for each in rows] == [each.candidate.name for each in answer.ranked], wish
        scores = [each[1] for each in rows]
        assert scores == pytest.approx([each.score for each in answer.ranked], rel=1e-9), wish
        places = ["\N{EN DASH}".join(map(str, dict.fromkeys(each.places))) for each in answer.ranked]
        assert [each[2] for each in rows] == places, wish
        ties = ["best", *("tie" if each.ties else "" for each in answer.ranked[1:])]
        assert [each[3] for each in rows] == ties, wish
        reasons = {
            (each.candidate.name, "; ".join(_in_page_order(each.reasons)) or each.empty)
            for each in answer.excluded
        }
        assert excluded == reasons, wish
        explanation = page.locator("#choose-explanation").inner_text()
        for each in answer.better_but_excluded[:2]:
            assert f"{each.candidate.name} would come first, but" in explanation
    assert sum(size > 5 for size in sizes) > 20
    assert len(set(sizes)) > 5


def _in_page_order(reasons: dict[Requirement, str]) -> list[str]:
    return [reasons[each] for each in Requirement if each in reasons]


def test_the_command_that_the_page_prints_gives_the_same_ranking(opened, tmp_path):
    page = opened("intervals")
    wish = Wish("tabular", "eq", {"read_time": 2.5, "size": 1}, ["safe", "portable"], (125, None))
    choose(page, wish)
    export(RESULTS["intervals"].records, tmp_path / "records.jsonl")
    words = shlex.split(page.locator("#choose-command code").inner_text())
    assert words[:3] == ["format-bench", "recommend", "RESULTS"]
    done = run("recommend", str(tmp_path), *words[3:], "--json")
    answer = json.loads(done.stdout)
    rows, _ = shown(page)
    assert len(rows) > 5
    assert [each["name"] for each in answer["ranked"]] == [each[0] for each in rows]
    assert [each["score"] for each in answer["ranked"]] == pytest.approx(
        [each[1] for each in rows], rel=1e-9
    )
    assert answer["bytes_per_second"] == {"read": 125e6, "save": None}


def test_a_mix_of_questions_ranks_as_the_command_does(opened, tmp_path):
    page = opened("queries")
    export(RESULTS["queries"].records, tmp_path / "records.jsonl")
    page.get_by_text("Questions", exact=True).click()
    page.get_by_label("point").fill("100")
    page.get_by_label("take-1").fill("2.5")
    page.get_by_role("slider", name="save time").fill("0")
    page.get_by_text("More measures").click()
    page.get_by_role("slider", name="cold query time").evaluate(
        "(range) => { range.value = 2; for (const each of ['input', 'change'])"
        " range.dispatchEvent(new Event(each, {bubbles: true})); }"
    )
    words = shlex.split(page.locator("#choose-command code").inner_text())
    assert words[words.index("--question") :] == ["--question", "point=100", "--question", "take-1=2.5"]
    weights = {"size=1", "query_time=1", "cold_query_time=2"}
    assert {each for each in words if "query_time" in each or "size" in each} == weights
    rows, excluded = shown(page)
    mix = {"point": 100.0, "take-1": 2.5}
    answer = recommend(
        mixed(RESULTS["queries"], mix),
        {Measure("size"): 1, Measure("query time"): 1, Measure("query time", "cold"): 2},
    )
    assert [each[0] for each in rows] == [each.candidate.name for each in answer.ranked]
    scores = pytest.approx([each.score for each in answer.ranked], rel=1e-9)
    assert [each[1] for each in rows] == scores
    assert len(rows) == 12
    assert excluded == {(each.candidate.name, each.empty) for each in answer.excluded}
    other = page.context.new_page()
    other.goto(address_of(page))
    assert shown(other) == (rows, excluded)
    page.get_by_label("join").fill("1")
    _, excluded = shown(page)
    assert any("join was not measured" in sentence for _, sentence in excluded)


def test_all_of_it_is_operable_by_keyboard(opened):
    page = opened("intervals")
    page.locator("#choose-form button").first.focus()
    reached = set()
    for _ in range(40):
        reached.add(page.evaluate("document.activeElement.name || document.activeElement.value"))
        page.keyboard.press("Tab")
    names = "suite dataset save_time read_time size require read-speed save-speed archive cache"
    assert set(names.split()) <= reached
    before = shown(page)
    size = page.get_by_role("slider", name="size", exact=False)
    size.focus()
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    assert size.input_value() == "4"
    assert "size:4" in address_of(page)
    assert shown(page) != before
    page.get_by_role("checkbox", name="safe").focus()
    page.keyboard.press("Space")
    assert "require=safe" in address_of(page)
    assert "Pickle" not in page.locator("#choose-table").inner_text()
    page.get_by_role("button", name="archive").focus()
    page.keyboard.press("Enter")
    assert page.get_by_role("button", name="archive").get_attribute("aria-pressed") == "true"
    assert page.get_by_role("button", name="cache").get_attribute("aria-pressed") == "false"
    assert page.get_by_role("checkbox", name="exact").is_checked()
    assert size.input_value() == "3"
    assert page.get_by_role("status").inner_text().startswith("Use ")
    assert page.locator("#choose-answer[role=status]").count() == 1


def test_a_shared_address_restores_the_choice(opened):
    page = opened("intervals")
    page.get_by_label("data set").select_option("eq")
    page.get_by_role("button", name="exchange").click()
    page.get_by_label("fetched before each read").fill("12.5")
    page.get_by_label("fetched before each read").press("Tab")
    page.get_by_role("slider", name="cold read time").focus()
    page.keyboard.press("ArrowRight")
    other = page.context.new_page()
    other.goto(address_of(page))
    assert "read-speed=12.5" in address_of(other)
    assert shown(other) == shown(page)
    for control in ("select", "input"):
        values = f"#choose-form {control}"
        state = "(controls) => controls.map((each) => [each.name, each.value, each.checked])"
        assert other.locator(values).evaluate_all(state) == page.locator(values).evaluate_all(state)
    assert other.locator("#choose-answer").inner_text() == page.locator("#choose-answer").inner_text()


NONSENSE = "#choose?suite=none&dataset=none&weight=size:x,none:1&require=none&read-speed=-1"


@pytest.mark.parametrize("address", [NONSENSE, "#choose?"])
def test_an_address_with_nonsense_still_shows_the_page(opened, address):
    page = opened("intervals")
    page.goto(page.url + address)
    assert page.locator("#choose-answer").inner_text() == "Give a measure a weight above 0."
    page.get_by_role("button", name="all alike").click()
    assert len(shown(page)[0]) > 5


@pytest.mark.parametrize("width", [400, 1400])
def test_it_is_readable_on_a_phone_and_a_screen(opened, width):
    page = opened("rounds", width)
    unfold(page)
    page.get_by_role("checkbox", name="exact").check()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    outside = page.evaluate(
        "Array.from(document.querySelectorAll('#choose *'))"
        ".filter((e) => !e.closest('.scroll, .unseen') && e.getBoundingClientRect().right > innerWidth)"
        ".map((e) => e.outerHTML.slice(0, 200))"
    )
    assert outside == []
    check_contrast(page)


def test_without_scripts_the_default_ranking_is_shown(browser, files):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((files / "samples.html").as_uri())
    answer = chooser_of(RESULTS["samples"]).first
    names = page.locator("#choose-table tbody th").all_inner_texts()
    assert names == [each.candidate.name for each in answer.ranked]
    assert page.locator("#choose-form").is_hidden()
    assert "recommend" in page.locator("#choose-static").inner_text()
    context.close()


def test_scripts_start_with_the_ranking_that_is_shown_without_them(opened):
    page = opened("samples")
    answer = chooser_of(RESULTS["samples"]).first
    rows, _ = shown(page)
    assert [each[0] for each in rows] == [each.candidate.name for each in answer.ranked]
    assert "Ties are not known" in page.locator("#choose-explanation").inner_text()


def test_the_ranking_is_printed(opened):
    page = opened("intervals")
    page.emulate_media(media="print")
    assert page.locator("#choose-table").is_visible()
    assert page.locator("#choose-explanation").is_visible()
    assert page.locator("#choose-form").is_hidden()


def test_the_data_stay_small():
    found = results(measured(labels(40), [f"data_{number}" for number in range(10)]))
    assert len(chooser_of(found).data) < 200_000


def test_code_of_a_ranked_format_is_copied_by_keyboard(opened):
    page = opened("named")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    for part in ("#choose-table", "#verdict .answer-lines"):
        code = page.locator(f"{part} details.code").first
        code.locator("summary").focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        code.get_by_role("button", name="copied").wait_for()
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied == code.locator("pre").inner_text()
        assert "df.to_parquet(" in copied
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.tagName") == "PRE"  # scrolls by keys


def test_code_is_copied_without_a_clipboard_for_the_page(opened):
    page = opened("rounds")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error()); }")
    code = page.locator("#choose-table details.code").first
    code.locator("summary").click()
    code.get_by_role("button").click()
    code.get_by_role("button", name="copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == code.locator("pre").inner_text()


def test_code_is_that_of_the_command(opened):
    page = opened("intervals")
    rows = page.locator("#choose-table tbody tr")
    names = rows.locator("th").all_inner_texts()
    texts = rows.evaluate_all(
        "(rows) => rows.map((row) => row.querySelector('pre code')?.textContent ?? '')"
    )
    found = dict(zip(names, texts, strict=True))
    answer = chooser_of(RESULTS["intervals"]).first
    for each in answer.ranked:
        expected = code_of(each.candidate.configuration)
        assert found[each.candidate.name] == expected
    assert sum("import pandas" in text for text in found.values()) > 3
