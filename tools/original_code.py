"""The thesis' program beside this one: ``python -m tools.original_code CHECKOUT --out FOLDER``.

CHECKOUT is a checkout of github.com/mariantaragel/format-bench. Its libraries, of the time of its last
change, are installed once in an environment of their own. Then each of its twelve formats saves and
reads its table `eq` by that program and by this one, in turn. Times of the program are kept for its
first call, as it makes it, and for a second one in the same process; times here are of a later call.

Each turn is added to the records of three folders, ``original``, ``original-later`` and ``here``, so
that an interrupted comparison goes on. `format-bench study thesis FOLDER/original` judges the thesis'
claims by its own code on this machine, and with ``FOLDER/here`` by this project. The files of numbers
that the page of claims is made of are written beside the folders.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click

from adapter_core.files import remove, user_cache
from format_bench.results import flat_csv
from format_bench.results.display.markdown import table_lines
from format_bench.results.display.text import quantity
from format_bench.results.load import RESULTS, load
from format_bench.results.published.figures import figure
from format_bench.results.records import Record, append, key
from format_bench.studies.declared.kept_numbers import KeptNumber

PYTHON = "3.10"

# Of spring 2024, when the program was last changed; its own file of requirements has no versions.
PINS = (
    *("pandas==2.2.1", "numpy==1.26.4", "pyarrow==14.0.2", "pylance==0.10.9", "tables==3.9.2"),
    *("lxml==5.2.1", "openpyxl==3.1.2", "fastavro==1.9.4", "dask==2024.4.2", "dask-expr==1.0.12"),
    *("pillow==10.3.0", "h5py==3.11.0", "lmdb==1.4.1", "datasets==2.19.0", "matplotlib==3.8.4"),
)

CLASSES = {
    "CSV": "Csv",
    "JSON": "Json",
    "XML": "Xml",
    "HDF5.fixed": "Hdf5Fixed",
    "HDF5.table": "Hdf5Table",
    "Parquet": "Parquet",
    "Feather": "Feather",
    "ORC": "Orc",
    "Pickle": "Pickle",
    "Excel": "Excel",
    "Lance": "Lance",
    "Avro": "Avro",
}
"""The program's classes by our labels, in its order."""

ORIGINAL, LATER, HERE = SIDES = "original", "original-later", "here"
"""Folders of records: first calls of the program, later ones, and this program."""

SUITE, DATASET, COLUMNS = "tabular", "eq", 8

METRICS = ("save time", "save CPU time", "read time", "read CPU time", "size")

PAGE = "comparison.md"
"""Page of the manual that has the tables."""

LIMIT_SECONDS = 3_600.0


class Program:
    """The thesis' program, with a Python and libraries of its time.

    Parameters
    ----------
    checkout : Path
        Its files.
    python : str
        Version or path of a Python that its libraries run on.
    """

    def __init__(self, checkout: Path, python: str) -> None:
        self.checkout = checkout.resolve()
        if not (self.checkout / "data_formats" / "hdf5fixed_format.py").exists():
            raise click.UsageError(f"{checkout} is no checkout of the thesis' program")
        self.python = python
        self.environment = user_cache() / "original_code"
        self.libraries = ""

    def install(self) -> None:
        """Install the libraries, if that was not done before."""
        # Written last, since a killed installation leaves a part.
        pins = self.environment / "pins.txt"
        if not pins.exists() or pins.read_text(encoding="utf-8") != "\n".join(PINS):
            remove(self.environment)
            uv = [sys.executable, "-m", "uv"]
            run([*uv, "venv", "--quiet", "--python", self.python, self.environment])
            run([*uv, "pip", "install", "--quiet", "--python", self._interpreter, *PINS])
            pins.write_text("\n".join(PINS), encoding="utf-8")

    @property
    def _interpreter(self) -> Path:
        return self.environment / "bin" / "python"

    def make_table(self, file: Path, rows: int) -> None:
        """Pickle the program's own table."""
        versions = json.loads(self._turn(file.parent, "table", file, rows))
        self.libraries = ", ".join(f"{name} {version}" for name, version in versions.items())

    def measure(self, label: str, table: Path, rows: int) -> Mapping[str, list[Record]]:
        """Return the records of a turn by folder."""
        found = json.loads(self._turn(table.parent, CLASSES[label], table))
        records = {}
        for place, side in enumerate((ORIGINAL, LATER)):
            values = {"size": found["size"]}
            for step in ("save", "read"):
                # Of a long call there is no later one, and imports are a small part of it.
                call = found[step][min(place, len(found[step]) - 1)]
                values |= {f"{step} time": call["wall"], f"{step} CPU time": call["cpu"]}
            records[side] = [
                replace(_record(label, rows, metric, value), sentence=self.libraries)
                for metric, value in values.items()
            ]
        return records

    def _turn(self, folder: Path, *arguments: object) -> str:
        program = Path(__file__).with_name("original_turn.py")
        return run([self._interpreter, program, self.checkout, *arguments], folder)


def _record(label: str, rows: int, metric: str, value: float) -> Record:
    found = figure(SUITE, label, DATASET, (rows, COLUMNS), metric, value, rounding=0)
    is_read = metric.startswith("read")
    return replace(found, conditions={"cache": "warm", "threads": "all"}) if is_read else found


def run(command: Sequence[object], folder: Path | None = None) -> str:
    """Run a command in a folder; return its output.

    Raises
    ------
    click.ClickException
        If it fails, with its last line.
    """
    done = subprocess.run(
        list(map(str, command)),
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_SECONDS,
    )
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
        raise click.ClickException(f"{command[0]} ended with {done.returncode}: {lines[-1]}")
    return done.stdout


def measure_here(label: str, rows: int) -> Mapping[str, list[Record]]:
    """Return the records of one call of each step by this program."""
    with tempfile.TemporaryDirectory(prefix="formatbench-original-") as folder:
        command = [sys.executable, "-m", "format_bench", "--quiet", "run", "--suite", SUITE]
        command += ["--datasets", DATASET, "--rows", str(rows), "--formats", label]
        run([*command, "--repeats", "1", "--out", folder])
        found = load(folder).records
    # The program has one setting of each format, as the usual one here: without a codec.
    usual = [each for each in found if "settings" not in each.conditions]
    return {HERE: [each for each in usual if each.metric in METRICS and each.value is not None]}


def keep(out: Path, records: Mapping[str, Iterable[Record]]) -> None:
    """Add a turn to the records of its folders: samples of each cell, with their median as its value."""
    for side, found in records.items():
        folder = out / side
        folder.mkdir(parents=True, exist_ok=True)
        known = {key(each): each for each in _known(folder)}
        append(folder / RESULTS, *(_joined(known.get(key(each)), each) for each in found))


def _known(folder: Path) -> list[Record]:
    return load(folder).records if (folder / RESULTS).exists() else []


def _joined(known: Record | None, new: Record) -> Record:
    samples = [*(known.repeats if known else ()), statistics.median(new.repeats)]
    # Those of the turns: their processes and loops are not comparable.
    facts = {"repeats": samples, "rounds": 1, "round_sizes": [], "interval": None}
    alone = {"cpu_repeats": [], "loop_repeats": [], "run_id": "original-code"}
    return replace(new, value=statistics.median(samples), **facts, **alone)


def turns_of(out: Path, label: str, rows: int) -> dict[str, int]:
    """Return the number of turns of a format that each folder has."""
    return {
        side: max(
            (
                len(each.repeats)
                for each in _known(out / side)
                if (each.format, each.rows) == (label, rows)
            ),
            default=0,
        )
        for side in (ORIGINAL, HERE)
    }


def tables(out: Path, rows: int, labels: Sequence[str]) -> Iterator[str]:
    """Yield the lines of the tables: seconds of both programs by both clocks, and bytes."""
    found = {
        (side, each.format, each.metric): each.value
        for side in SIDES
        for each in _known(out / side)
        if each.rows == rows and each.value is not None
    }
    for clock in ("time", "CPU time"):
        lines = []
        for label in labels:
            for step in ("save", "read"):
                values = [found.get((side, label, f"{step} {clock}")) for side in SIDES]
                lines.append([label, step, *_cells(values, "seconds"), *_ratios(values)])
        header = ["format", "step", "its first call", "its second call", "here", "first / here"]
        yield f"\nSeconds, {'wall time' if clock == 'time' else 'CPU time of all threads'}\n"
        yield from table_lines([*header, "second / here"], lines, "ll" + "r" * 5)
    sizes = [[found.get((side, label, "size")) for side in (ORIGINAL, HERE)] for label in labels]
    yield "\nBytes of the file\n"
    rows_of_sizes = [
        [label, *_cells(values, "bytes"), *_ratios(values)]
        for label, values in zip(labels, sizes, strict=True)
    ]
    yield from table_lines(["format", "its file", "here", "ratio"], rows_of_sizes)


def write_kept(out: Path) -> None:
    """Write the medians as the files of numbers of the page of claims."""
    for side, name in ((HERE, "thesis.csv"), (ORIGINAL, "thesis_original.csv")):
        numbers = [
            KeptNumber(
                **dict.fromkeys(("codec", "link", "track", "layout", "damage", "query"), ""),
                suite=SUITE,
                format=each.format,
                level=-1,
                dataset=each.dataset,
                rows=each.rows,
                cache=each.conditions.get("cache", ""),
                metric=each.metric,
                value=float(f"{each.value:.3g}"),
                page=PAGE,
            )
            for each in _known(out / side)
            if each.value is not None
        ]
        (out / name).write_text(flat_csv.to_csv(KeptNumber, numbers), encoding="utf-8")


def _cells(values: Iterable[float | None], unit: str) -> list[str]:
    return ["-" if each is None else quantity(each, unit) for each in values]


def _ratios(values: Sequence[float | None]) -> list[str]:
    *others, here = values
    return ["-" if each is None or not here else f"{each / here:.2f}" for each in others]


@click.command()
@click.argument("checkout", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder of the records.")
@click.option("--rows", type=click.IntRange(1), default=1_000_000, show_default=True, help="Rows of eq.")
@click.option("--turns", type=click.IntRange(1), default=2, show_default=True, help="Of each program.")
@click.option("--python", default=PYTHON, show_default=True, help="Version or path, for its libraries.")
@click.option(
    "--formats", default=",".join(CLASSES), metavar="LABELS", help="Labels with commas. [default: all]"
)
def main(checkout: Path, out: Path, rows: int, turns: int, python: str, formats: str) -> None:  # noqa: PLR0913, PLR0917
    """Compare the thesis' program with this one."""
    labels = formats.split(",")
    if unknown := set(labels) - set(CLASSES):
        raise click.UsageError(f"the thesis' program has no {', '.join(sorted(unknown))}")
    program = Program(checkout, python)
    program.install()
    load_before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="formatbench-original-") as folder:
        table = Path(folder, "table.pickle")
        program.make_table(table, rows)
        for turn in range(turns):
            for label in labels:
                known = turns_of(out, label, rows)
                if known[ORIGINAL] <= turn:
                    keep(out, program.measure(label, table, rows))
                if known[HERE] <= turn:
                    keep(out, measure_here(label, rows))
                click.echo(f"turn {turn + 1}: {label}", err=True)
    click.echo(
        f"{rows:,} rows of eq, {turns} turns of each program; its libraries: {program.libraries};"
    )
    loads = f"load {load_before:.1f} at the start, {os.getloadavg()[0]:.1f} at the end"
    click.echo(f"{os.cpu_count()} CPUs, {loads}")
    for line in tables(out, rows, labels):
        click.echo(line)
    write_kept(out)


if __name__ == "__main__":
    main()
