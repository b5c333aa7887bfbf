"""Mixes of queries: TOML, places, samples, and messages on mistakes."""

import numpy as np
import pytest

from adapter_core.array_description import Description
from adapter_core.errors import InvalidQuestionsError
from format_bench.families.arrays.boxes import Box, part_edges
from format_bench.planning.mix import ArrayMix, MixQuery, placed, read_mix


@pytest.fixture
def array():
    shape = (168, 181, 360)
    coordinates = {
        "time": np.arange(1000, 1168),
        "latitude": np.linspace(90, -90, 181),
        "longitude": np.arange(-180.0, 180.0),
    }
    return Description(
        shape, np.dtype("f4"), (1, 181, 360), "t2m", tuple(coordinates), coordinates=coordinates
    )


@pytest.fixture
def read(array, tmp_path):
    def call(text, to=array):
        path = tmp_path / "mix.toml"
        path.write_text(text)
        return read_mix(path, to)

    return call


def test_extents_are_indexes_shares_whole_axes_and_coordinates(read):
    found = read(
        """
        mean = "geometric"
        keep_open = true
        [[query]]
        name = "series"
        weight = 3
        time = "all"
        latitude = 1
        longitude = 0.1
        [[query]]
        bounds = { latitude = [47, 55], longitude = [5, 15] }
        time = 24
        """
    )
    assert (found.mean, found.keep_open) == ("geometric", True)
    series, box = found.queries
    assert (series.name, series.weight, series.box.extents) == ("series", 0.75, (168, 1, 36))
    assert series.box.starts == (None, None, None)
    assert (box.name, box.box) == ("query 2", Box((24, 9, 11), (None, 35, 185)))


def test_queries_of_foxbench_are_taken_by_name(read):
    nine, *others = read("[[query]]\nquery = 'Q9'\nweight = 2\n[[query]]\nquery = 'foxbench'").queries
    assert nine.box == Box((168, 8, 10), (0, 35, 186))
    assert [each.name.partition(" ")[0] for each in others] == (
        "Q1 Q2 Q3 Q8 Q9 Q14 Q15 Q20 Q21 Q26 Q27".split()
    )
    assert nine.weight == pytest.approx(2 / 13)


def test_entries_of_questions_are_a_mix_too(read, array):
    text = """
        keep_open = true
        [[question]]
        name = 'ein "Ort" 😀'
        weight = 3
        extent = { time = 0.5, latitude = 1 }
        start = { latitude = 7 }
        [[question]]
        name = "box"
        area = "north"
        first = { time = 24 }
        [areas]
        north = { latitude = [80, 90] }
        """
    place, box = read(text).queries
    assert (place.weight, place.box) == (0.75, Box((84, 1, 360), (None, 7, 0)))
    assert box.box == Box((24, 11, 360), (0, 0, 0))
    fixed = placed([place, box], array, 3, keep_open=True)
    assert list(fixed.by_name) == [place.name, "box"]
    first = place.box.placed(array.shape, place.name, 3).starts[0]
    assert fixed.by_name[place.name].fields["start"] == {"time": first, "latitude": 7, "longitude": 0}
    assert fixed.keep_open


QUERY = "[[query]]\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "contains no query"),
        ("query = 3", "contains no query"),
        ("[[query]\n", "line 1"),
        ("mean = 'mode'\n[[query]]\ntime = 1", "mean is 'mode'"),
        ("keep_open = 1\n[[query]]\ntime = 1", "keep_open is 1"),
        ("weight = 2\n[[query]]\ntime = 1", "unknown key 'weight'"),
        (
            QUERY + "time = 1\n" + QUERY + "level = 2",
            "question 'query 2': the array has no dimension",
        ),
        (QUERY + "time = 169", "question 'query 1': time = 169, but the array has 168"),
        (QUERY + "time = 0", "time = 0"),
        (QUERY + "time = 1.5", "time = 1.5"),
        (QUERY + "time = true", "time = True"),
        (QUERY + "time = 'some'", "time = 'some'"),
        (QUERY + "weight = 0", "query 1: weight is 0"),
        (QUERY + "weight = -1.5", "weight is -1.5"),
        (QUERY + "weight = nan", "weight is nan"),
        (QUERY + "weight = inf", "weight is inf"),
        (QUERY + "weight = 'much'", "weight is 'much'"),
        (QUERY + "name = ''", "question 1: it needs a name"),
        (QUERY + "bounds = [1, 2]", "area is [1, 2]"),
        (QUERY + "bounds = { latitude = 5 }", "bounds of latitude are 5"),
        (QUERY + "bounds = { latitude = [91, 95] }", "no value of the array is within its bounds"),
        (QUERY + "bounds = { time = [1000, 1010] }\ntime = 3", "time has an extent and bounds"),
        (QUERY + "query = 'Q41'", "there is no query 'Q41'"),
        (QUERY + "query = 'Q7'", "Q7 does not apply"),
        (QUERY + "query = 'Q9'\ntime = 3", "no 'time', only a weight"),
    ],
)
def test_mistakes_are_named_with_their_place(read, text, message):
    with pytest.raises(InvalidQuestionsError) as caught:
        read(text)
    assert message in str(caught.value)
    assert "mix.toml: " in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bounds_need_coordinates(read):
    bare = Description((10,), np.dtype("f4"), (5,), "x", ("place",))
    with pytest.raises(InvalidQuestionsError, match="no coordinates of place"):
        read(QUERY + "bounds = { place = [1, 2] }", bare)


def test_a_missing_file_is_a_mistake_of_the_mix(array, tmp_path):
    with pytest.raises(InvalidQuestionsError, match="No such file"):
        read_mix(tmp_path / "none.toml", array)


def test_random_places_are_spread_over_the_array_and_fixed_ones_stay():
    query = Box((3, 5), (None, 7))
    places = [query.selection((10, 20), turn) for turn in range(300)]
    assert {(each[0].start, each[0].stop) for each in places} == {(n, n + 3) for n in range(8)}
    assert all(each[1] == slice(7, 12) for each in places)
    assert places[5] == query.selection((10, 20), 5)


def test_a_query_to_a_sample_keeps_its_extents_where_they_fit():
    query = Box((100, 10, 50), (None, 60, 50))
    found = query.scaled((100, 100, 100), (40, 40, 40))
    assert found.extents == (40, 10, 40)
    assert found.starts == (None, 20, 0)


def test_a_sample_keeps_proportions_but_not_below_extents():
    boxes = [Box((500, 10, 1), (None,) * 3)]
    assert part_edges((1000, 1000, 4), boxes, 4e6) == (1000, 1000, 4)
    edges = part_edges((1000, 1000, 4), boxes, 4e5)
    assert edges[0] == 500
    assert edges[2] == 4
    assert 0.9e5 * 4 < np.prod(edges) <= 4e5
    assert np.prod(part_edges((1000, 1000, 4), boxes, 250)) <= 250


def test_the_geometric_mean_counts_ratios_and_the_arithmetic_one_seconds():
    queries = tuple(MixQuery(str(n), 0.5, Box((1,), (None,))) for n in range(2))
    assert ArrayMix(queries).cost([1.0, 100.0]) == pytest.approx(50.5)
    assert ArrayMix(queries, "geometric").cost([1.0, 100.0]) == pytest.approx(10)
    assert ArrayMix(queries).cost(np.array([[1.0, 2.0], [3.0, 4.0]])) == pytest.approx([2, 3])


@pytest.mark.parametrize("name", ["series", "maps", "regions"])
def test_the_mixes_of_the_documentation_are_valid(root, array, name):
    assert read_mix(root / "docs" / "mixes" / f"{name}.toml", array).queries
