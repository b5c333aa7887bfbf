"""Pages on training loaders: speed beside the limit, exact samples, and what faults cost."""

from __future__ import annotations

import pytest

import data_generator
from adapter_core.errors import InvalidResultsError
from format_bench.conditions import axes
from format_bench.families.operations import registry_of
from format_bench.results.status import CellStatus
from format_bench.results.suites import FAMILIES
from format_bench.runner.plan import RunRequest, plan
from format_bench.studies.declared import study
from tests.factories.records import record, results


def cell(label, metric, value, data="training-images", under=(), **fields):
    conditions = {"threads": "all", "workers": "1x1", **dict(under)}
    facts = {"suite": "training", "dataset": data, "rows": 100, "columns": 2, "conditions": conditions}
    return record(label, metric, value, **facts | fields)


def page(name, *found):
    return study.read(name).page(results(list(found))).markdown()


def test_the_speed_has_its_interval_and_the_fastest_loop_beside_it():
    far = {"link": "20 ms"}
    text = page(
        "training",
        cell("HDF5[loop]", "sample time", 1e-4, interval=[0.9e-4, 1.2e-4]),
        cell("Files[loop]", "sample time", 8e-4),
        cell("WebDataset", "sample time", 5e-4),
        cell("WebDataset", "sample time", 2e-4, under={"workers": "2x2"}),
        cell("WebDataset", "stalls at 10 ms", 0.5, interval=[0.25, 0.75]),
        cell("WebDataset", "first epoch sample time", 3e-3, under={"cache": "cold"}),
        cell("WebDataset", "sample time", 4e-3, under=far),
        cell("WebDataset", "sample time", 9e-3, under=far | {"local cache": "25%"}),
    )
    limit = "| training-images | 1 | local files | HDF5[loop] | 100 µs | WebDataset | 500 µs | 5.00 |"
    assert limit in text
    assert "| HDF5[loop] | 100 µs (90 µs to 120 µs) | - | - | - | - |" in text
    assert "| WebDataset | 500 µs | 200 µs | - | - | 3 ms |" in text
    assert "| 50% (25% to 75%) |" in text
    assert "| WebDataset | 20 ms | 4 ms | - | 9 ms |" in text


def test_exact_epochs_lost_samples_and_refusals_are_told_apart():
    refused = {"status": CellStatus.UNSUPPORTED, "sentence": "Feather[loop] feeds no window: no store"}
    text = page(
        "training-faults",
        *(cell("Grain", metric, 0) for metric in ("lost samples", "repeated samples")),
        cell("Grain", "lost samples", 3, data="training-windows"),
        cell("Grain", "order distance", 0.1, repeats=[0.1] * 3),
        cell("Feather[loop]", "lost samples", None, data="training-windows", **refused),
    )
    assert "300 samples of 1 training were compared" in text
    assert "| loader | training-images | training-windows |" in text
    assert "| `Grain` | exact | **3 lost** |" in text
    assert "| `Feather[loop]` | - | unsupported [1] |" in text
    assert "\n1. it feeds no window: no store\n" in text


@pytest.mark.parametrize(
    ("sentence", "value", "shown"),
    [
        ("", 0, "exact"),
        ("2 repeated, 1,000 lost", 1002, "2 repeated, 1,000 lost"),
        ("it goes on", 0, "goes on"),
        ("32 lost; it goes on", 32, "goes on, 32 lost"),
        ("64 lost; it stops: RuntimeError: a; b", 64, "stops, 64 lost [1]"),
        ("64 lost; it stops: OSError: GET http://127.0.0.1:9/a after 1 s", 64, "stops, 64 lost [1]"),
        ("64 lost; it hangs: no end after 30 seconds", 64, "hangs, 64 lost [1]"),
        ("2 of its processes outlive a training", 0, "exact [1]"),
    ],
)
def test_a_fault_has_its_outcome_and_what_it_cost(sentence, value, shown):
    metric = "samples off after a lost worker"
    sound = cell("Grain", "lost samples", 0)
    text = page("training-faults", sound, cell("Grain", metric, value, sentence=sentence))
    assert f"| `Grain` | training-images | - | - | {shown} | - |" in text


def test_results_without_epochs_are_refused():
    with pytest.raises(InvalidResultsError, match="has no epochs of the suite training"):
        page("training-faults", cell("Grain", "size", 10))


@pytest.mark.parametrize("name", ["training", "training-faults"])
def test_all_loaders_of_a_study_exist_and_those_at_servers_read_there(name):
    declared = study.read(name)
    registry = registry_of(FAMILIES["training"])
    for part in ({}, *declared.further_cells):
        cells = declared.cells | part
        loaders = [registry.find(label) for label in str(cells["formats"]).split(",")]
        if "link" in cells:
            assert [each.label for each in loaders if each.local_only] == []
        if "local-cache" in cells:
            assert all(each.limits_cache for each in loaders)


@pytest.mark.parametrize("dataset", ["training-images", "training-windows", "training-rows"])
@pytest.mark.parametrize(
    ("name", "workers"), [("training", "1"), ("training", "2"), ("training-faults", "2")]
)
def test_ten_loaders_or_more_feed_each_kind_of_samples(name, workers, dataset):
    declared = study.read(name)
    registry = registry_of(FAMILIES["training"])
    kind = data_generator.samples(dataset, 5).samples.kind
    feeding = {
        label
        for part in ({}, *declared.further_cells)
        for cells in [declared.cells | part]
        if (cells["datasets"], cells["workers"]) == (dataset, workers) and "link" not in cells
        for label in str(cells["formats"]).split(",")
        if "epochs" in str(cells["steps"]) and kind not in registry.find(label).refuses
    }
    assert len(feeding) >= 10


@pytest.mark.parametrize(
    ("label", "conditions", "reason"),
    [
        ("WebDataset", {"link": ("20ms",)}, ""),
        ("WebDataset", {}, "local files are not copied; --link or --place has them on a server"),
        ("Lance", {"link": ("20ms",)}, "Lance has no cache with a limit"),
    ],
)
def test_a_local_cache_is_of_loaders_that_limit_theirs(label, conditions, reason):
    axis = axes()["local cache"]
    request = RunRequest(suite="training", formats=(label,), conditions=conditions)
    (case,) = plan(request).cases
    assert axis.why_not("25%", case) == reason
    assert (axis.parse("25"), axis.parse("25 %")) == ("25%", "25%")
