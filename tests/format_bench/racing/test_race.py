"""Races with invented formats: who is dropped, who wins, and when the budget ends them."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from functools import partial

import pytest

from adapter_core.errors import NoCandidateError
from format_bench.racing import output
from format_bench.racing.race import (
    END_SECONDS,
    FIRST_ANSWER_SECONDS,
    FIRST_LIMIT_SECONDS,
    ROUNDS,
    SAMPLE_LIMIT_SECONDS,
    Race,
    sample_sizes,
)
from format_bench.racing.standings import Standings
from format_bench.recommendation.purposes import Wish
from format_bench.recommendation.requirements import Requirement
from format_bench.results.candidates import Configuration
from format_bench.results.metrics import Measure
from format_bench.results.status import CellStatus
from format_bench.runner.estimates import LARGE_SAMPLE_MARGIN, SIZE_MARGIN, estimate
from format_bench.runner.executor import TimeBudget
from tests.factories.records import record

ROWS = 100_000
WEIGHTS = {Measure("save time"): 1.0, Measure("read time"): 1.0, Measure("size"): 1.0}
METRICS = ("save time", "read time", "size")

# Standard deviation of the logarithm of a process' median: 1.15, the bound, is two of them.
NOISE = math.log(1.15) / 2


class World:
    """Formats with a fixed part and a part for each row of each metric, and a clock.

    Parameters
    ----------
    seed : int
        Seed of the formats and of the noise.
    number : int
        Number of formats.
    noise : float
        Standard deviation of the logarithm of each measured time.
    """

    def __init__(self, seed, number=30, noise=NOISE):
        self.chance = random.Random(seed)
        self.noise, self.now, self.trials = noise, 0.0, []
        self.entries = [Configuration(f"F{place}") for place in range(number)]
        self.parts = {
            (entry, metric): self._parts(metric) for entry in self.entries for metric in METRICS
        }

    def _parts(self, metric):
        if metric == "size":
            return 1000.0, self.chance.lognormvariate(math.log(40), 0.6)
        return self.chance.uniform(0.0002, 0.05), self.chance.lognormvariate(math.log(1e-6), 1.5)

    def true(self, entry, metric, rows=ROWS):
        fixed, each_row = self.parts[entry, metric]
        return fixed + each_row * rows

    def true_scores(self):
        best = {m: min(self.true(each, m) for each in self.entries) for m in METRICS}
        shifts = {"save time": 0.01, "read time": 0.01, "size": 4096.0}
        return {
            entry: math.exp(
                sum(math.log((shifts[m] + self.true(entry, m)) / (shifts[m] + best[m])) for m in METRICS)
                / len(METRICS)
            )
            for entry in self.entries
        }

    def measure(self, trial, limit_seconds):
        self.trials.append(trial)
        found = []
        for entry in trial.entries:
            self.now += 0.1
            for rows in trial.sizes:
                own = [self._record(entry, metric, rows) for metric in METRICS]
                found += [*own, replace(own[0], metric="durable save time")]
        if self.now > limit_seconds + 1000:
            raise AssertionError("the race goes on")
        return found

    def _record(self, entry, metric, rows):
        value = self.true(entry, metric, rows)
        unit = "bytes" if metric == "size" else "seconds"
        if unit == "seconds":
            self.now += 3 * value
            value *= self.chance.lognormvariate(0, self.noise)
        earlier = sum(entry in t.entries and rows in t.sizes for t in self.trials)
        return record(entry.format, metric, value, rows=rows, unit=unit, repeats=[value], rounds=earlier)

    def race(self, budget_seconds=1e6, weights=WEIGHTS, first=10, watch=lambda _: None):
        standings = Standings("made up", ROWS, self.entries, Wish(weights))
        return Race(
            standings,
            self.entries[:first],
            self.measure,
            TimeBudget(budget_seconds, lambda: self.now),
            watch=watch,
        )


def test_without_noise_the_best_wins_and_most_others_see_samples_only():
    world = World(1, noise=0.0)
    progress = world.race().run()
    scores = world.true_scores()
    assert progress.is_settled
    winner = progress.standings.recommendation(only_full=True).first.candidate.configuration
    assert winner == min(scores, key=scores.get)
    assert len(progress.standings.measured) < 0.8 * len(world.entries)


@pytest.mark.parametrize("slow", [1, 10])
def test_an_entry_that_starts_slowly_is_tried_again_after_the_first_ranking(slow):
    world = World(1, number=10, noise=0.0)
    best = min(world.true_scores().items(), key=lambda each: each[1])[0]
    starting = {best, *world.entries[:slow]}
    measure = world.measure

    def starts_slowly(trial, limit_seconds):
        found = measure(trial, limit_seconds)
        if trial.limit_seconds > FIRST_LIMIT_SECONDS:
            return found
        ended = {"value": None, "status": CellStatus.TIMED_OUT}
        return [replace(e, **ended) if Configuration.of(e) in starting else e for e in found]

    world.measure = starts_slowly
    progress = world.race().run()
    assert progress.is_settled
    assert progress.standings.recommendation(only_full=True).first.candidate.configuration == best
    tried = [trial.limit_seconds for trial in world.trials if best in trial.entries]
    assert tried[:2] == [FIRST_LIMIT_SECONDS, SAMPLE_LIMIT_SECONDS]


@pytest.mark.costly
def test_noise_drops_the_best_in_few_of_200_races_and_never_for_a_much_worse_one():
    dropped = 0
    for seed in range(200):
        world = World(seed, number=8)
        progress = world.race(first=4).run()
        scores = world.true_scores()
        best = min(scores, key=scores.get)
        dropped += best in progress.standings.drops
        winner = progress.standings.recommendation(only_full=True).first.candidate.configuration
        assert scores[winner] < 1.15 * scores[best], seed
    assert dropped <= 0.05 * 200


def too_high_on_samples(seed, true, entry, metric, rows=ROWS):
    """Return a value that is proportionally too high on all samples, so the estimate is as much."""
    value = true(entry, metric, rows)
    margin = 0.99 * (SIZE_MARGIN if metric == "size" else LARGE_SAMPLE_MARGIN)
    factor = random.Random(f"{seed} {entry} {metric}").uniform(1, margin)
    return value if rows == ROWS else value * factor


def test_errors_of_estimates_within_the_margins_never_drop_the_best():
    for seed in range(30):
        world = World(seed, number=10, noise=0.0)
        scores = world.true_scores()
        world.true = partial(too_high_on_samples, seed, world.true)
        progress = world.race(first=5).run()
        assert min(scores, key=scores.get) not in progress.standings.drops, seed


def test_of_two_sample_sizes_the_part_for_rows_is_told_from_the_fixed_one():
    fixed, each_row = 0.02, 1e-7
    records = [record("CSV", "read time", fixed + each_row * rows, rows=rows) for rows in (1_000, 4_000)]
    found = estimate(records, ROWS)
    assert found.value == pytest.approx(fixed + each_row * ROWS)
    # By proportion it would be 0.51 s.
    one = estimate(records[1:], ROWS)
    assert one.interval[0] < fixed + each_row * ROWS < one.interval[1]
    assert "estimated from 1,000 and 4,000 rows" in found.sentence
    assert found.rows == ROWS


def test_values_on_all_rows_are_as_uncertain_as_processes_or_their_samples():
    sure = record("CSV", "read time", 1.0, rows=ROWS, interval=[0.99, 1.01])
    assert estimate([sure], ROWS).interval == pytest.approx([1 / 1.15, 1.15])
    unsure = record("CSV", "read time", 1.0, rows=ROWS, interval=[0.5, 1.1])
    assert estimate([unsure], ROWS).interval == pytest.approx([0.5, 1.15])
    exact = record("CSV", "size", 1e6, rows=ROWS)
    assert estimate([exact], ROWS).interval == [1e6, 1e6]


def test_a_budget_ends_a_race_and_the_answer_says_what_is_missing():
    world = World(3)
    progress = world.race(budget_seconds=4.0 + END_SECONDS).run()
    assert not progress.is_settled
    assert world.now < 2 * 4.0
    answer = output.recommendation(progress)
    caveats = " ".join(answer.caveats)
    assert "5 s were spent before the race was settled" in caveats
    assert "not tried, and may still win" in caveats
    facts = output.to_json(progress)
    assert len(facts["tried"]) + len(facts["not_tried"]) == len(world.entries)


def test_nothing_is_measured_in_the_time_of_the_end():
    world = World(10)
    limits = []
    measure = world.measure

    def hanging(trial, limit_seconds):
        start = world.now
        limits.append(limit_seconds)
        found = measure(trial, limit_seconds)
        world.now = max(world.now, start + limit_seconds)  # a slow format, ended at its limit
        return found

    world.measure = hanging
    progress = world.race(budget_seconds=20.0).run()
    assert progress.answer is not None
    assert all(0 < limit <= 20.0 - END_SECONDS for limit in limits)
    assert progress.untried
    assert world.now < 20.0


def test_the_format_of_the_users_own_file_is_measured_first_also_if_it_is_out():
    world = World(11, number=8)
    race = world.race()
    own = race.standings.baseline = world.entries[5]
    race.standings.drop(own, "it is not safe")
    race.run()
    assert [trial.entries for trial in world.trials[:2]] == [(own,), (own,)]
    assert world.trials[1].sizes == (ROWS,)
    assert own not in {each.candidate.configuration for each in race.answer.ranked}


def test_a_slow_format_of_the_users_own_file_is_estimated():
    world = World(12, number=8)
    race = world.race(budget_seconds=30.0)
    own = race.standings.baseline = world.entries[5]
    world.parts[own, "read time"] = (0.01, 1e-3)
    race.run()
    assert world.trials[0].entries == (own,)
    assert race.standings.rows_of(own) == [1_000, 4_000]


def test_nothing_is_known_of_a_format_of_the_users_own_file_that_was_not_finished_on_a_sample():
    world = World(12, number=8)
    own = world.entries[5]
    world.measure = failing_on(world, lambda entry, rows: entry == own and rows < ROWS)
    race = world.race(budget_seconds=60.0)
    race.standings.baseline = own
    race.run()
    assert (ROWS,) not in [trial.sizes for trial in world.trials if own in trial.entries]


def failing_on(world, is_slow):
    """Return `world.measure`, where some entries are not finished on some numbers of rows."""
    measure, ended = world.measure, {"value": None, "status": CellStatus.TIMED_OUT, "repeats": []}
    return lambda trial, limit: [
        replace(each, **ended) if is_slow(Configuration.of(each), each.rows) else each
        for each in measure(trial, limit)
    ]


def test_entries_that_were_not_finished_on_all_rows_leave_the_answer_to_estimates():
    world = World(1, number=40)
    world.measure = failing_on(world, lambda _, rows: rows == ROWS)
    progress = world.race(budget_seconds=8.0).run()
    assert sum(trial.sizes == (ROWS,) for trial in world.trials) > 1
    answer = output.recommendation(progress)
    assert len(answer.ranked) > 2
    assert "not yet measured on all rows" in " ".join(answer.caveats)


def test_entries_that_can_still_win_are_measured_in_all_rounds():
    progress = World(19, number=5).race().run()
    assert progress.is_settled
    live = progress.standings.live
    assert len(live) > 1
    assert {progress.standings.rounds_of(each) for each in live} == {ROUNDS}


def test_a_race_whose_time_is_spent_between_rounds_is_not_settled():
    world = World(19, number=5)
    progress = world.race(budget_seconds=6.0).run()
    assert len(progress.standings.live) > 1
    assert min(map(progress.standings.rounds_of, progress.standings.live)) == 1
    assert not progress.is_settled
    assert "were spent before the race was settled" in output.recommendation(progress).caveats[0]


def test_an_answer_by_samples_says_so():
    world = World(4)
    progress = world.race(budget_seconds=END_SECONDS + 0.2).run()
    assert not progress.standings.measured
    answer = output.recommendation(progress)
    assert "the answer rests on samples of 1,000 and 4,000 rows" in " ".join(answer.caveats)


def test_where_none_of_those_measured_on_all_rows_can_be_chosen_the_estimates_answer():
    world = World(4, number=3)
    race = world.race()
    race.standings.wish = Wish(WEIGHTS, (Requirement.EXACT,))
    for entry, sizes in zip(world.entries, [(ROWS,), (ROWS,), (1_000, 4_000)], strict=True):
        for rows in sizes:
            lost = record(entry.format, "lost columns", float(rows == ROWS), rows=rows, unit="columns")
            own = [replace(world._record(entry, metric, rows), rounds=1) for metric in METRICS]
            race.standings.add([lost, *own])
    answer = output.recommendation(race)
    assert answer.first.candidate.configuration == world.entries[2]
    assert "the answer rests on samples of 1,000 and 4,000 rows" in " ".join(answer.caveats)


def test_a_first_ranking_comes_in_time_though_the_first_formats_are_slow():
    world = World(5)
    measure = world.measure

    def slow(trial, limit_seconds):
        world.now += 1.5
        return measure(trial, limit_seconds)

    world.measure = slow
    progress = world.race().run()
    assert progress.first_seconds < FIRST_ANSWER_SECONDS
    assert 2 < len(progress.first_ranking) < 10
    assert progress.first_seconds < progress.last_seconds


def test_an_entry_without_a_value_is_out_with_the_reason():
    world = World(6)
    measure = world.measure

    def failing(trial, limit_seconds):
        return [
            record(each.format, each.metric, None, rows=each.rows) if each.format == "F2" else each
            for each in measure(trial, limit_seconds)
        ]

    world.measure = failing
    progress = world.race().run()
    drop = progress.standings.drops[Configuration("F2")]
    assert "it fell over" in drop.reason
    assert sum(Configuration("F2") in trial.entries for trial in world.trials) == 1


def test_entries_without_any_value_are_out_at_once_and_nothing_is_recommended():
    world = World(6, number=4)
    measure = world.measure
    world.measure = lambda trial, limit: [
        record(each.format, each.metric, None, rows=each.rows) for each in measure(trial, limit)
    ]
    progress = world.race().run()
    assert {*progress.standings.drops} == {*world.entries}
    assert len(world.trials) == len(world.entries)
    with pytest.raises(NoCandidateError, match="it fell over"):
        output.recommendation(progress)


def test_an_entry_that_never_has_records_does_not_hold_up_the_race():
    world = World(7, number=8)
    measure = world.measure
    world.measure = lambda trial, limit: [each for each in measure(trial, limit) if each.format != "F3"]
    progress = world.race(first=4).run()
    assert not progress.is_settled
    assert progress.untried == [Configuration("F3")]


def test_earlier_values_on_all_rows_are_not_measured_again():
    world = World(8, number=6)
    first = world.race(first=3).run()
    again = world.race(first=3)
    again.standings.add(
        record
        for entry in first.standings.entries
        for by_rows in first.standings._records[entry].values()
        for record in by_rows.values()
    )
    before = len(world.trials)
    assert again.run().is_settled
    assert len(world.trials) == before


def test_without_any_value_there_is_no_recommendation():
    world = World(9)
    world.measure = lambda *_: []
    progress = world.race().run()
    with pytest.raises(
        NoCandidateError, match=r"^the time ended before any of 30 candidates was measured"
    ):
        output.recommendation(progress)
    for entry in world.entries:
        progress.standings.drop(entry, "it is not safe")
    with pytest.raises(NoCandidateError, match=r"^no candidate is left: it is not safe$"):
        output.recommendation(progress)


def test_few_rows_have_no_samples():
    assert sample_sizes(100_000) == ((1_000, 4_000), 20_000)
    assert sample_sizes(1_000) == ((40,), 200)
    assert sample_sizes(60) == ((), None)
