"""The suite `scale`: its step on real workers, its reasons, its tracks."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapter_core import UnknownNameError
from adapter_core.errors import WrongValuesError
from format_bench.families import elsewhere
from format_bench.families.elsewhere import measure_scale
from format_bench.network import object_server as servers
from format_bench.network.client import TABLE
from format_bench.network.trials import remote_labels
from format_bench.parallel.trials import LOCAL, MEDIA, OBJECT_STORE, Spread
from format_bench.results.status import CellStatus
from format_bench.results.suites import SUITES
from tests.commands import run

METRICS = SUITES["scale"].benchmarks[0].metrics

ON_TWO = str(Spread(2, 2, LOCAL))


@pytest.mark.costly("format_bench.parallel")
@pytest.mark.slow
def test_a_cell_has_all_values_on_processes_of_its_own(tmp_path, monkeypatch):
    # As under asv, whose folder for files is relative.
    monkeypatch.chdir(tmp_path)
    medium = OBJECT_STORE if servers.availability() else LOCAL
    track = str(Spread(1, 2, medium))
    found = measure_scale("Feather", ("core", 500), track, Path(), (*METRICS, "none"))
    assert [each.metric for each in found] == [*METRICS, "none"]
    *values, unknown = found
    assert [each for each in values if each.status is not CellStatus.VALUE or each.repeats[0] <= 0] == []
    assert {each.sentence for each in values if "read" in each.metric} == {"digests equal"}
    assert (unknown.status, unknown.sentence) == (CellStatus.FAILED, "not measured")
    assert list(tmp_path.iterdir()) == []


def test_cells_without_values_have_reasons(tmp_path, monkeypatch):
    def reasons(track):
        found = measure_scale("Parquet", ("core", 5), track, tmp_path, METRICS)
        assert len(found) == len(METRICS)
        return {(each.status, each.sentence) for each in found}

    few = (CellStatus.UNSUPPORTED, "5 rows cannot be in 8 partitions")
    assert reasons(str(Spread(2, 8, LOCAL))) == {few}
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "none"))
    ((status, sentence),) = reasons(str(Spread(2, 2, OBJECT_STORE)))
    assert status is CellStatus.UNAVAILABLE
    assert sentence.endswith("try: format-bench build object-server")
    monkeypatch.setattr("format_bench.parallel.dask.Engine.requires", ("no-such-package",))
    ((status, sentence),) = reasons(ON_TWO)
    assert status is CellStatus.UNAVAILABLE
    assert "no-such-package" in sentence
    assert list(tmp_path.iterdir()) == []


def test_workers_that_do_not_start_are_failed_cells(tmp_path, monkeypatch):
    monkeypatch.setattr(elsewhere, "PROGRAM", "format_bench.no_such_module")
    found = measure_scale("Parquet", ("core", 5), ON_TWO, tmp_path, METRICS)
    assert {each.status for each in found} == {CellStatus.FAILED}
    assert "ended with status 1" in found[0].sentence


def test_wrong_values_leave_no_times(tmp_path, monkeypatch):
    program = (
        "import json, sys; sys.stdin.readline(); "
        "wrong = {'step': 'read', 'status': 'failed', 'sentence': 'came back wrong: 4 rows, not 5'}; "
        "print(json.dumps([{'step': 'save', 'seconds': 1.0}, wrong]), flush=True)"
    )
    (tmp_path / "lying_workers.py").write_text(program)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(elsewhere, "PROGRAM", "lying_workers")
    with pytest.raises(WrongValuesError, match="came back wrong: 4 rows, not 5"):
        measure_scale("Parquet", ("core", 5), ON_TWO, tmp_path, METRICS)


def test_the_tracks_and_the_formats_of_the_suite_are_known():
    spreads = [Spread.of(each.name) for each in SUITES["scale"].tracks]
    assert [str(each) for each in spreads] == [each.name for each in SUITES["scale"].tracks]
    assert {each.medium for each in spreads} == set(MEDIA)
    assert set(SUITES["scale"].formats) <= set(remote_labels(TABLE))


@pytest.mark.parametrize("text", ["2", "2 workers", "axb local", "2x4 moon"])
def test_other_spreads_are_refused(text):
    with pytest.raises(UnknownNameError, match="spread of a table"):
        Spread.of(text)


def test_users_data_are_refused_in_one_line(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("a,b\n1,2\n")
    done = run("run", "--suite", "scale", "--data", path, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "its workers make the rows of a named data set; they cannot make rows of mine" in done.stderr
    assert not (tmp_path / "out").exists()
