"""Plans of shards: the fastest in an order as good, from measured trainings."""

from __future__ import annotations

import json

import pytest

from adapter_core.errors import InvalidQuestionsError
from format_bench.planning.shard_plan import Measured, Wish, answer, ranked, wish_of
from tests.commands import run
from tests.factories.records import record

VALUES = {"size": 1_000_000, "first batch time": 0.5}


def measured(shards, seconds, distance):
    values = VALUES | {"first epoch sample time": seconds, "order distance": distance}
    found = {metric: record("WebDataset", metric, value) for metric, value in values.items()}
    return Measured(shards, 1_000, found)


def mix(tmp_path, text):
    path = tmp_path / "mix.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_fastest_wins_whose_order_is_about_as_good():
    fast, good, slow = measured(2, 1e-3, 0.5), measured(8, 2e-3, 0.1), measured(32, 4e-3, 0.05)
    assert [each.shards for each in ranked([slow, fast, good])] == [8, 32, 2]
    lines = answer(Wish(), ranked([slow, fast, good]))
    assert [word for word, _ in lines] == ["use", "because", "or", "or"]
    assert lines[0][1] == "WebDataset with 8 shards of 125 kB, 125 samples each"
    assert lines[2][1].startswith("32 shards of 31.2 kB, 31 samples each: 2.00 times as long; ")


def test_a_mix_of_questions_wishes_no_shards(tmp_path):
    assert wish_of(mix(tmp_path, "[[question]]\nname = 'a'")) is None
    found = wish_of(mix(tmp_path, "[training]\nworkers = 2\nlink = '20ms'"))
    assert found == Wish(workers=2, link="20ms")


@pytest.mark.parametrize("text", ["worker = 2", "workers = 0", "workers = 'two'", "link = 20"])
def test_a_wrong_wish_is_named(tmp_path, text):
    with pytest.raises(InvalidQuestionsError, match=r"mix.toml: \[training\]: "):
        wish_of(mix(tmp_path, f"[training]\n{text}"))


@pytest.mark.costly("format_bench.planning.shard_plan")
def test_shards_are_planned_by_trainings(tmp_path):
    wished = mix(tmp_path, "[training]\nloader = 'WebDataset'")
    what = ("--dataset", "training-rows", "--rows", "300", "--budget", "1s", "--json")
    found = run("--quiet", "plan", wished, *what, "--results", tmp_path / "out")
    assert found.returncode == 0, found.stderr
    shards = json.loads(found.stdout)["shards"]
    assert sorted(each["shards"] for each in shards) == [1, 4, 16, 64]
    assert all(each["lost samples"] == 0 and each["size"] > 0 for each in shards)
    refused = run("plan", mix(tmp_path, "[training]\nloader = 'Lance'"), "--dataset", "training-rows")
    assert refused.returncode == 2
    assert refused.stderr.strip().endswith("Lance has no shards of equal size to plan")
