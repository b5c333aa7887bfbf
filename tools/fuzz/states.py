"""Results, metadata, states and specifications that the program reads back or is given, and their readers."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import MISSING, asdict, fields, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from adapter_core.errors import FormatBenchError
from tools.fuzz.damage import changed_json, damage_bytes, damage_json, damage_toml
from tools.fuzz.targets import Target
from tools.fuzz.text_damage import damage_csv

if TYPE_CHECKING:
    from tools.fuzz.canaries import Canaries

KEPT_RESULTS = Path(__file__).parents[2] / "tests" / "data" / "results_0_1"
"""Results of an earlier version."""

LINES = 24
"""Records of a file of results; the kept one has more, which would only take time."""


# Results


def _beside(path: Path) -> None:
    """Write results and metadata into the folder of a path."""
    lines = (KEPT_RESULTS / "results.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (path.parent / "results.jsonl").write_text("".join(lines[:: len(lines) // LINES]), encoding="utf-8")
    (metadata,) = KEPT_RESULTS.glob("*.json")
    (path.parent / "run-threads-all.json").write_bytes(metadata.read_bytes())


def _results(path: Path) -> Any:
    from format_bench.results.load import load

    return load(path.parent)


def _command(*arguments: str) -> None:
    """Run a command in this process; its error is an error of the project."""
    from format_bench.cli.main import main

    try:
        main(["--quiet", *arguments])
    except SystemExit as end:
        if end.code == 2:
            raise FormatBenchError("the command ends with status 2") from end
        if end.code:
            raise RuntimeError(f"the command ends with status {end.code}") from end


def _report(path: Path) -> None:
    _command(
        "report",
        str(path.parent),
        "--format",
        "md",
        "--format",
        "csv",
        "--out",
        str(path.parent / "out"),
    )


def _compare(path: Path) -> None:
    _command("compare", str(path.parent), str(KEPT_RESULTS))


def _recommend(path: Path) -> None:
    _command("recommend", str(path.parent))


def _asv(path: Path) -> Path:
    """Write asv's results of two benchmarks and one commit, with reasons and samples beside them."""
    from tests.factories.histories import (
        MACHINE,
        MadeUp,
        MonthlyRepository,
        _Month,
        benchmarks,
        dates,
        libraries,
    )

    wanted = ("tabular.Tabular.time_read", "tabular.Tabular.track_size")
    suites = [each for each in benchmarks() if each["name"].startswith(wanted)]
    few = [each | {"params": [labels[:2] for labels in each["params"]]} for each in suites]
    folder = path.parent / "repository"
    repository = MonthlyRepository(folder, few, "full", MACHINE)
    (date,) = dates(1)
    repository.add(repository.renew(date, libraries(1)), date, _Month(MadeUp(), 1, 1).outcome)
    results = repository.results_dir
    from format_bench.asv_support.rounds import Round, RoundsFile

    RoundsFile(results, repository.environment, "a" * 8).append(
        "tabular.Tabular", ["'CSV'"], "read time", [Round([1.0])]
    )
    results.rename(path)
    import shutil

    shutil.rmtree(folder)
    return path


def _read_asv(path: Path) -> Any:
    from format_bench.asv_support.results import load_run
    from format_bench.changes.history import read_history

    return load_run(path), read_history(path, path.parent)


# Bundles


def _bundle(path: Path) -> None:
    from format_bench.bundles.making import made
    from format_bench.results import bundle
    from format_bench.results.load import load

    found = made(load(KEPT_RESULTS), {}, lambda _: None)
    bundle.write(found.head, found.records[::10], path)


def _read_bundle(path: Path) -> Any:
    from format_bench.bundles.checks import check
    from format_bench.results import bundle

    found = bundle.read(path)
    # Without the data, which are made, and not read.
    return check(replace(found, head=found.head | {"data": []}), lambda _: None)


def _damage_bundle(path: Path, draw: Random, canaries: Canaries) -> None:
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    place = draw.choice((0, draw.randrange(len(lines))))
    lines[place] = changed_json(lines[place].decode(), draw, canaries) + b"\n"
    path.write_bytes(gzip.compress(b"".join(lines)))


# States and specifications, each with a reader by the name of the file


_Reader = Callable[[Path], Any]
_FILES: dict[str, tuple[Callable[[Path], object], _Reader]] = {}


def _file(name: str, reader: _Reader) -> Callable[[Callable[[Path], object]], Callable[[Path], object]]:
    """Register the function that writes a valid file of a name, with the reader of such files."""

    def register(write: Callable[[Path], object]) -> Callable[[Path], object]:
        _FILES[name] = write, reader
        return write

    return register


def _text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _invented(kind: type) -> dict[str, Any]:
    """Return values for the fields of a dataclass that have no default."""
    usual = {"int": 3, "float": 0.5, "str": "a", "bool": True}
    return {
        each.name: usual.get(str(each.type).removesuffix(" | None"), 1)
        if each.default is MISSING
        else each.default
        for each in fields(kind)
        if each.default is not MISSING or each.default_factory is MISSING
    }


def _read_spec(path: Path) -> Any:
    from data_generator import read_spec

    return read_spec(path)


@_file("spec.json", _read_spec)
def _spec_json(path: Path) -> None:
    from data_generator.spec.io import write_spec
    from data_generator.spec.spec import ColumnSpec, TableSpec

    columns = ColumnSpec("whole", "int64"), ColumnSpec("text", "str")
    write_spec(TableSpec(columns, rows=20, note="made up"), path)


_file("spec.toml", _read_spec)(_spec_json)


def _read_mix(path: Path) -> Any:
    import numpy as np

    from adapter_core.array_description import Description
    from format_bench.planning.mix import read_mix

    return read_mix(
        path, Description((4, 6, 5), np.dtype("f4"), (2, 3, 5), "wind", ("time", "lat", "lon"))
    )


@_file("mix.toml", _read_mix)
def _mix(path: Path) -> None:
    _text(
        path,
        'mean = "geometric"\nkeep_open = true\n\n[[query]]\nname = "one"\nweight = 2\ntime = 1\n\n'
        "[[query]]\nweight = 0.5\nlat = 0.5\n",
    )


def _read_month(path: Path) -> Any:
    from format_bench.automation.monthly.state import MonthState

    month = MonthState.read(path)
    return month and month.failed


@_file("month.json", _read_month)
def _month(path: Path) -> None:
    from format_bench.automation.monthly.state import DONE, MonthState

    MonthState("2026-11", "a" * 40, append=False, begun={"tabular": 1.5}, ended={"tabular": DONE}).write(
        path
    )


def _read_torn(path: Path) -> Any:
    from format_bench.automation.monthly import results

    results.folder = lambda _: path.parent
    return results.remove_torn("quick")


@_file("torn.jsonl", _read_torn)
def _torn(path: Path) -> None:
    _text(path, '{"a": 1}\n{"b": [2, {"c": 3}]}\n')


@_file("torn.json", _read_torn)
def _torn_json(path: Path) -> None:
    _text(path, '{"a": {"b": [2, {"c": 3}]}}\n')


def _read_data(path: Path) -> Any:
    from format_bench.runner import folders

    folders.check_same_data(path.parent, {"mine": "abc"})


@_file("data.json", _read_data)
def _data(path: Path) -> None:
    _text(path, '{"mine": "abc", "other": "def"}\n')


def _read_cluster_id(path: Path) -> Any:
    from format_bench.runner import folders

    return folders.cluster_id(path.parent)


@_file("cluster.json", _read_cluster_id)
def _cluster_id(path: Path) -> None:
    _text(path, '{"run": "0123456789abcdef"}\n')


def _read_cluster_log(path: Path) -> Any:
    from format_bench.runner.cluster_ledger import measured_seconds

    return measured_seconds(path)


@_file("cluster.jsonl", _read_cluster_log)
def _cluster_log(path: Path) -> None:
    entry = {"ended": "2026-11-01T00:00:00+00:00", "outcome": "measured", "seconds": 1.5, "machine": "m",
             "host": "h", "worker": "w", "round": 1, "case": {"format": "CSV", "rows": 10}, "reason": ""}  # fmt: skip
    _text(path, f"{json.dumps(entry)}\n{json.dumps(entry | {'outcome': 'lost'})}\n")


def _read_address(path: Path) -> Any:
    from format_bench.clusters.connection import _address_in

    return _address_in(path)


@_file("scheduler.json", _read_address)
def _scheduler(path: Path) -> None:
    _text(path, '{"type": "Scheduler", "id": "a", "address": "tcp://127.0.0.1:8786", "workers": {}}')


def _read_constraints(path: Path) -> Any:
    from format_bench.library_sets import sets

    return sets.read(path)


@_file("constraints.txt", _read_constraints)
def _constraints(path: Path) -> None:
    _text(path, "# pins\nnumpy==2.0.1\npandas==3.0.0 ; python_full_version < '3.12'\n--hash=x\n")


def _read_outcomes(path: Path) -> Any:
    from format_bench.library_sets import outcomes

    outcomes.FOLDER = "."
    return outcomes.read(path.parent)


@_file("outcomes.jsonl", _read_outcomes)
def _outcomes(path: Path) -> None:
    from format_bench.library_sets.outcomes import SetOutcome, SetRecord

    records = [
        asdict(
            SetRecord("a" * 40, "2024-03-01", "m", SetOutcome.MEASURED, suites=["tabular"], time=1.5)
        ),
        asdict(
            SetRecord(
                "b" * 40, "2024-04-01", "m", SetOutcome.FAILED, "it fell over", {"x": "y"}, time=2.5
            )
        ),
    ]
    _text(path, "".join(json.dumps(each) + "\n" for each in records))


def _read_asv_metadata(path: Path) -> Any:
    from format_bench.asv_support.run import AsvMetadataFile

    os.renames(path, path.parent / "metadata" / path.name)
    return AsvMetadataFile(path.parent, path.stem).newest("a" * 40)


@_file("asv_metadata.jsonl", _read_asv_metadata)
def _asv_metadata(path: Path) -> None:
    (metadata,) = KEPT_RESULTS.glob("*.json")
    facts = json.loads(metadata.read_text(encoding="utf-8"))
    facts |= {"asv_commit": "a" * 40, "time": 1.5, "shapes": {"tabular.eq": [10, 8]}}
    _text(path, json.dumps(facts) + "\n")


def _read_damage(path: Path) -> Any:
    from format_bench.results.study_rows import read
    from format_bench.studies.damaging.counts import FORM

    return read(FORM, path)


@_file("damage.jsonl", _read_damage)
def _damage(path: Path) -> None:
    subject = {
        "family": "tables",
        "format": "Parquet",
        "codec": None,
        "checksums": True,
        "dataset": "eq",
        "rows": 10,
    }
    facts = [
        {"facts": {"size": 10}},
        {"cost": {"save": 1.0, "read": 1.1, "size": 1.0, "calls": 3}},
        {
            "trial": {
                "kind": "bit flip",
                "number": 1,
                "file": "",
                "offset": 5,
                "verdict": {"outcome": "no effect", "right": True},
            }
        },
    ]
    _text(path, "".join(json.dumps({"subject": subject, "seed": 1, **each}) + "\n" for each in facts))


def _read_scale(path: Path) -> Any:
    from format_bench.results.study_rows import read
    from format_bench.studies.scale.scale_run import FORM

    return read(FORM, path.parent)


@_file("scale.jsonl", _read_scale)
def _scale(path: Path) -> None:
    from format_bench.studies.scale.scale_run import ScaleRun

    run = ScaleRun("dask", 2, "Parquet", "eq", 10, 8, 2, "save", task_seconds=(0.5, 0.6))
    _text(path, f"{json.dumps(asdict(run))}\n" * 2)


def _read_storage(path: Path) -> Any:
    from format_bench.results.study_rows import read
    from format_bench.studies.storage.storage_cell import FORM

    return read(FORM, path)


@_file("storage.json", _read_storage)
def _storage(path: Path) -> None:
    from format_bench.studies.storage.storage_cell import StorageCell, StorageResults

    cell = StorageCell("CSV", "", "whole", "ssd", (0.5, 0.6), 3, 4096)
    facts = {"ssd": {"file_system": "ext4"}}
    _text(path, json.dumps(asdict(StorageResults(10, "eq", facts, 4, cells=[cell]))))


def _flat(name: str, module: str, kind: str) -> None:
    """Register a study's CSV file."""
    from importlib import import_module

    from format_bench.results import flat_csv

    def read(path: Path) -> Any:
        return flat_csv.read(getattr(import_module(module), kind), path)

    def write(path: Path) -> None:
        of = getattr(import_module(module), kind)
        _text(path, flat_csv.to_csv(of, [of(**_invented(of))] * 3))

    _file(name, read)(write)


_flat("links.csv", "format_bench.network.link_results", "LinkResult")
_flat("nesting.csv", "format_bench.studies.nested.measuring", "NestingResult")
_flat("sets.csv", "format_bench.studies.tables.query_sets", "QuerySetResult")
_flat("changes.csv", "format_bench.studies.tables.changes", "ChangeResult")
_flat("tuning.csv", "format_bench.studies.tables.tuning", "TuningResult")


def _read_state(path: Path) -> Any:
    return _FILES[path.name][1](path)


# Changes


_TEXTS = ("", "\0" * 4096, "null", "[]", "{}", "1", '"a"', "[" * 100_000, '{"a":' * 100_000, "\ufeff{}", "NaN", "9" * 5000,
          "a = " + "[" * 50_000, "[a", "a.b.c = 1\na = 2", "==1", "numpy", "numpy==1\nnumpy==2", "numpy>=1", "-r x\n", "@ file:///x")  # fmt: skip


def _damage_state(path: Path, draw: Random, canaries: Canaries) -> None:
    """Change a file by its grammar, or replace its content."""
    if draw.random() < 0.1:
        path.write_bytes(draw.choice((*(text.encode() for text in _TEXTS), b"\xff\xfe{", b"\x80")))
    elif path.suffix == ".toml":
        damage_toml(path, draw, canaries)
    elif path.suffix == ".csv":
        damage_csv(path, draw, canaries)
    elif path.suffix == ".txt":
        lines = path.read_text(encoding="utf-8").splitlines()
        lines[draw.randrange(len(lines))] = (
            draw.choice((canaries.text(draw)[:99], *_TEXTS[-6:])).encode("utf-8", "replace").decode()
        )
        path.write_text("\n".join(lines), encoding="utf-8")
    else:
        damage_json(path, draw, canaries)


def targets() -> Iterator[Target]:
    """Yield the readers of results, and of states and specifications."""
    results = dict.fromkeys(("results.jsonl", "run-threads-all.json"), _beside)
    changes = (damage_bytes, _damage_state, _damage_state, _damage_state)
    modules = ("format_bench.results.load", "format_bench.cli.main", "numpy")
    yield Target("results", results, changes, _results, modules)
    for name, read in (("report", _report), ("compare", _compare), ("recommend", _recommend)):
        yield Target(
            name,
            results,
            changes,
            read,
            (*modules, "pandas", "format_bench.report.writers"),
            writes=True,
            prints=True,
        )
    of_bundles = (damage_bytes, _damage_bundle, _damage_bundle)
    yield Target("bundle", {"mine.bundle.gz": _bundle}, of_bundles, _read_bundle, modules)
    yield Target(
        "asv_results",
        {"results": _asv},
        changes,
        _read_asv,
        ("asv.results", "format_bench.changes.history"),
        prints=True,
        programs=("git",),
    )
    seeds = {name: write for name, (write, _) in _FILES.items()}
    yield Target("states", seeds, changes, _read_state, ("format_bench.cli.main",), writes=True)
