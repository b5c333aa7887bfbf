"""Atlas: bundles that are refused, rankings over machines, facts that they depend on, and its pages."""

from __future__ import annotations

import gzip
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from click.testing import CliRunner

from adapter_core.errors import InvalidResultsError
from format_bench.bundles.atlas import atlas_pages, collection, dependence
from format_bench.bundles.atlas.agreement import Rankings, levels
from format_bench.bundles.atlas.collection import Group, collect
from format_bench.cli.main import format_bench
from format_bench.results.candidates import Configuration
from format_bench.results.metrics import Measure
from tests.factories.bundles import CHANGED, GAIN, LABELS, SLOW_ALONE, change, write_bundles

EQ = Group("tabular", "eq", (), 100, "all", "")
READ, SAVE, SIZE = map(Measure, ("read time", "save time", "size"))


@pytest.fixture(scope="module")
def columns(tmp_path_factory):
    folder = tmp_path_factory.mktemp("atlas")
    write_bundles(folder, 12, ("2026-10", "2026-11"))
    return collect(folder)


@pytest.fixture(scope="module")
def rankings(columns):
    found = Rankings(columns)
    return {each.measure: each for each in found.of(EQ, {READ, SAVE})}


@pytest.fixture(scope="module")
def site(columns, tmp_path_factory):
    out = tmp_path_factory.mktemp("site")
    atlas_pages.write(columns, out, lambda _: None)
    return {path.name: path.read_text(encoding="utf-8") for path in out.iterdir()}


@pytest.fixture
def few(tmp_path):
    return write_bundles(tmp_path / "atlas", 3, labels=("CSV", "ORC", "Parquet"), datasets=("eq",))


def turn_of(ranking, one, other):
    """Return the turn of two formats with the factor of its effects as of the first to the second."""
    for each in ranking.turns:
        names = each.one.format, each.other.format
        if names == (one, other):
            return each
        if names == (other, one):
            effects = [effect._replace(factor=1 / effect.factor) for effect in each.dependence.effects]
            facts = replace(each.dependence, effects=effects)
            return replace(each, one=each.other, other=each.one, dependence=facts)
    raise AssertionError(ranking.turns)


# Rankings


def test_sizes_hold_on_all_machines_and_times_turn_around(rankings):
    assert rankings[SIZE].holds
    assert rankings[SIZE].turns == []
    assert rankings[SIZE].pairs > 0
    assert rankings[READ].turning == len(rankings[READ].turns) > 0
    turn = turn_of(rankings[READ], SLOW_ALONE, "ORC")
    # With 8 CPUs or more, and with 2 or fewer; with 4 they differ by less than noise.
    assert (turn.one_ahead, turn.other_ahead) == (6, 4)


def test_rankings_count_machines_and_bundles(rankings):
    assert {(each.machines, each.bundles) for each in rankings.values()} == {(12, 24)}
    assert {row.bundles for row in rankings[READ].rows} == {24}
    assert {row.configuration.format for row in rankings[READ].rows} == set(LABELS)
    assert rankings[SIZE].rows[0].first_on == 12
    assert 0.5 < rankings[READ].agreement.low < rankings[READ].agreement.median <= 1


def test_facts_that_a_ranking_depends_on_are_found(rankings):
    found = turn_of(rankings[READ], SLOW_ALONE, "ORC").dependence
    assert found.effects[0].fact == "twice the CPUs"
    assert found.effects[0].factor == pytest.approx(1 / (1 + GAIN), rel=0.1)
    assert found.error < 1.2 < found.baseline
    assert found.right > 0.9 > found.baseline_right
    found = turn_of(rankings[SAVE], CHANGED, "CSV").dependence
    assert found.effects[0].fact == "pyarrow 24.0.0 to 26.0.1"
    assert found.effects[0].factor > 2


def test_chance_depends_on_nothing(columns):
    entries = sorted(columns.entries, key=lambda each: each.machine)
    named = 0
    for seed in range(20):
        logs = np.random.default_rng(seed).normal(0, 0.5, len(entries))
        pair = Configuration("CSV"), Configuration("ORC")
        named += bool(dependence.explained(EQ, entries, *pair, logs, np.zeros(len(entries))).effects)
    assert named <= 4


def test_few_machines_are_not_fitted(columns):
    number = 2 * dependence.FEWEST_MACHINES - 2
    entries = sorted(columns.entries, key=lambda each: each.machine)[:number]
    pair = Configuration("CSV"), Configuration("ORC")
    logs = np.arange(len(entries), dtype=float)
    assert dependence.explained(EQ, entries, *pair, logs, np.zeros(len(entries))) is None


def test_left_out_machines_are_predicted_by_the_others_alone():
    chance = np.random.default_rng(1)
    x, y = chance.normal(size=(9, 2)), chance.normal(size=9)
    machines = list("aabcccdee")
    found = dependence._fitted(y, x, machines)
    for name in set(machines):
        inside = np.array([each == name for each in machines])
        moved = np.where(inside, y + 5, y)
        # Neither prediction knows the machine's own values.
        again = dependence._fitted(moved, x, machines)
        assert again.left_out[inside] == pytest.approx(found.left_out[inside])
        assert again.baseline[inside] == pytest.approx([y[~inside].mean()] * inside.sum())
        design = np.column_stack([np.ones(9), x])[~inside]
        coefficients = np.linalg.solve(design.T @ design + np.diag([0, 1, 1]), design.T @ y[~inside])
        expected = np.column_stack([np.ones(9), x])[inside] @ coefficients
        assert found.left_out[inside] == pytest.approx(expected)


def test_levels_of_machines_and_formats_are_separated():
    machines, formats = np.array([0.0, 2.0, -1.0, 5.0]), np.array([-3.0, 0.0, 0.5, 0.0])
    logs = machines[:, None] + formats
    assert levels(logs)[1] == pytest.approx(formats)
    # The fastest machine lacks the fastest format, and one value is far off.
    logs[2, 0] = np.nan
    logs[3, 2] = 50
    assert levels(logs)[1] == pytest.approx(formats, abs=0.3)


def test_spreads_are_those_of_the_bundles(columns, rankings):
    (row,) = (each for each in rankings[READ].rows if each.configuration.format == "JSON")
    found = Rankings(columns)
    values = found.values(found.by_group[EQ][READ])
    logs = values.logs[:, values.configurations.index(row.configuration)]
    assert row.value == pytest.approx(np.exp(np.quantile(logs, [0.1, 0.5, 0.9])))
    # Speeds of machines differ by factors, which do not count beside each other.
    assert row.value.high / row.value.low > 2 > row.ratio.high / row.ratio.low


# Bundles that are left out


def tampered_value(_, records):
    records[0]["value"] *= 0.5


def tampered_digest(head, _):
    head["data"] = [each | {"digest": "0" * 32} for each in head["data"]]


def tampered_version(head, _):
    head["metadata"][0]["libraries"]["pyarrow"] = "99.0"


@pytest.mark.parametrize(
    ("tamper", "check"),
    [(tampered_value, "medians"), (tampered_digest, "data"), (tampered_version, "versions")],
)
def test_forged_bundles_are_left_out(few, tamper, check):
    change(few[1], tamper)
    found = collect(few[0].parents[2])
    assert [each.machine for each in found.entries] == ["machine-0", "machine-2"]
    ((path, reason),) = found.refused
    assert path == "machine-1/2026-11/run.bundle.gz"
    assert reason.startswith(f"{check} failed: ")
    assert {number for number, _, _ in found.parts} == {0, 1}


def test_versions_are_those_of_the_records(few):
    change(few[0], lambda head, _: head["metadata"].append({"started": "2026-11-16"}))
    change(
        few[1],
        lambda head, _: head["metadata"].append(
            {**head["metadata"][0], "libraries": {"pyarrow": "99.0"}}
        ),
    )
    versions = [each.facts.versions["pyarrow"] for each in collect(few[0].parents[2]).entries]
    assert "99.0" not in versions
    assert len(versions) == 3


def test_hostile_files_are_left_out_and_the_others_go_on(few):
    folder, secret = few[0].parents[2], few[0].read_bytes()
    few[1].write_bytes(gzip.compress(b"\0" * 2**22))
    few[2].write_bytes(b"PK\3\4")
    places = ("UP/2026-11", "a/2026-13", "a/../b/2026-11/c", "<img src=x>/2026-11", ".")
    for place in places:
        (folder / place).mkdir(parents=True, exist_ok=True)
        (folder / place / "x.bundle.gz").write_bytes(secret)
    (folder / "link" / "2026-11").mkdir(parents=True)
    (folder / "link" / "2026-11" / "x.bundle.gz").symlink_to(few[0])
    found = collect(folder)
    assert [each.machine for each in found.entries] == ["machine-0"]
    reasons = dict(found.refused)
    assert len(reasons) == 2 + len(places) + 1
    assert reasons["link/2026-11/x.bundle.gz"] == "it is a link"
    assert "a line has more than" in reasons["machine-1/2026-11/run.bundle.gz"]
    assert "\n" not in "".join(reasons.values())


def test_an_atlas_without_a_good_bundle_is_refused(few, tmp_path):
    for each in few:
        change(each, tampered_value)
    with pytest.raises(InvalidResultsError, match="no bundle to show: machine-0"):
        collect(few[0].parents[2])
    with pytest.raises(InvalidResultsError, match="not a folder"):
        collect(tmp_path / "missing")


def test_own_data_and_unknown_formats_are_in_no_ranking(few):
    def moved(head, records):
        records[0] |= {"format": "Ours"}
        records[1]["conditions"]["medium"] = "medium-1"
        records[2] |= {"dataset": "own-1"}
        head["data"].append(head["data"][0] | {"name": "own-1", "digest": None, "reason": "own data"})

    change(few[0], moved)
    found = collect(few[0].parents[2])
    assert found.refused == []
    assert found.left_out["formats or suites that are not known here"] == 1
    assert found.left_out["own data, questions, media or places"] == 2
    assert {cell.configuration.format for cell in found.cells} == {"CSV", "ORC", "Parquet"}


@pytest.mark.costly("format_bench.bundles.atlas.collection")
def test_processes_read_what_one_reads(few, monkeypatch):
    folder = few[0].parents[2]
    one = collect(folder)
    monkeypatch.setattr(collection, "_AT_A_TIME", 2)
    several = collect(folder)
    assert (several.entries, several.cells) == (one.entries, one.cells)
    for a, b in zip(one.parts, several.parts, strict=True):
        assert all(map(np.array_equal, a, b))


# Pages


class Ids(HTMLParser):
    """Collects ids, and links to pages of the site."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.ids += [found["id"]] if "id" in found else []
        self.links += [found["href"]] if tag == "a" else []


def test_pages_link_to_each_other_and_have_permanent_ids(site):
    assert {"index.html", "machines.html", "tabular-eq-100.html", "tabular-str-100.html"} == set(site)
    pages = {name: Ids(text) for name, text in site.items()}
    assert "cold_read_time/Parquet" in pages["tabular-eq-100.html"].ids
    assert "machine-3" in pages["machines.html"].ids
    for name, page in pages.items():
        assert len(page.ids) == len(set(page.ids)), name
        for link in page.links:
            target, _, anchor = link.partition("#")
            assert not anchor or anchor in pages[target or name].ids, link


def test_pages_say_what_holds_and_what_turns(site):
    assert "The ranking holds on all machines" in site["tabular-eq-100.html"]
    assert "twice the CPUs: " in site["index.html"]
    assert "Every bundle of the folder is used." in site["index.html"]
    assert "ARM Neoverse" in site["machines.html"]


def test_pages_stay_small_and_load_nothing(site):
    for text in site.values():
        assert len(text) < 120_000
        assert "default-src 'none'" in text
        assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", text)


def test_names_of_pages_are_stable_and_apart():
    assert atlas_pages.page_name(EQ) == "tabular-eq-100.html"
    others = [
        EQ._replace(threads="1"),
        EQ._replace(query="Q 1"),
        EQ._replace(query="q 1"),
        EQ._replace(conditions=(("link", "20 ms"),)),
        EQ._replace(conditions=(("medium", "../../x"),)),
        EQ._replace(dataset="x" * 300),
    ]
    names = [atlas_pages.page_name(each) for each in [EQ, *others]]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9_-]{1,90}\.html", each) for each in names)


# The command


def test_the_command(few, tmp_path):
    change(few[1], tampered_digest)
    out = tmp_path / "site"
    arguments = ["atlas", str(few[0].parents[2]), "--out", str(out)]
    done = CliRunner().invoke(format_bench, arguments)
    assert done.exit_code == 0, done.output
    assert done.stdout == f"{out / 'index.html'}\n"
    assert "left out: machine-1/2026-11/run.bundle.gz: data failed" in done.stderr
    assert "data failed" in (out / "index.html").read_text(encoding="utf-8")
    done = CliRunner().invoke(format_bench, [*arguments, "--strict"])
    assert isinstance(done.exception, InvalidResultsError)


def test_a_missing_folder_writes_nothing(tmp_path):
    arguments = ["atlas", str(tmp_path / "missing"), "--out", str(tmp_path / "site")]
    done = CliRunner().invoke(format_bench, arguments)
    assert isinstance(done.exception, InvalidResultsError)
    assert not (tmp_path / "site").exists()
