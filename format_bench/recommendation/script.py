"""Scripts that measure a cell of results again by plain calls of libraries, without this project."""

from __future__ import annotations

import math
from collections.abc import Sequence
from textwrap import indent

from adapter_core import ArraySource
from adapter_core.errors import UnsupportedError
from adapter_core.snippets import Code, Given, literal
from format_bench.families import plain_files
from format_bench.families.operations import registry_of
from format_bench.recommendation.code import calls_of
from format_bench.results.candidates import Configuration
from format_bench.results.conditions import WITHIN_A_PLACE
from format_bench.results.records import Record
from format_bench.results.suites import FAMILIES, family_of_suite

# Lines of a script: a screen, which a reader checks before running it.
LONGEST = 40

# Metrics that are timed, with their clocks where these are not that of timeit; others are counted.
_CLOCKS = {
    "save time": "",
    "save CPU time": "time.process_time",
    "read time": "",
    "read CPU time": "time.process_time",
}
_COUNTS = {"size": "each.stat().st_size", "files": "1"}

# Measured saves start from pandas and reads end there: adapters convert within the clock.
_FROM_PANDAS = {
    Given.TABLE: "table = pa.Table.from_pandas(df, preserve_index=False)",
    Given.POLARS: "df = pl.DataFrame(pa.Table.from_pandas(df, preserve_index=False))",
}
_TO_PANDAS = {Given.TABLE: "table.to_pandas()", Given.POLARS: "df.to_arrow().to_pandas()"}

# A page of memory for each value: a mapped file is not read before.
_TOUCHED = "np.asarray(array).reshape(-1)[:: 4096 // array.dtype.itemsize].copy()  # if it is mapped"

_REMOVE = "shutil.rmtree(path, True), path.unlink(True)"  # a folder, or a file, if there is one

_IN_MEMORY = "the size may differ by some bytes: the file also says how the table lies in memory"

_DIFFERENCES = {
    "Fory": _IN_MEMORY,
    "Pickle": _IN_MEMORY,
    "arrays": "FormatBench saves and reads chunk by chunk, and these calls take the whole array",
    "records": "FormatBench saves and reads objects of a class, and these calls dictionaries",
}


def why_none(record: Record) -> str:
    """Return why a cell has no script, as far as its record shows; empty if it may have one."""
    if record.value is None:
        return f"it has no value: {record.status}: {record.sentence}"
    if record.metric not in {*_CLOCKS, *_COUNTS}:
        known = ", ".join([*_CLOCKS, *_COUNTS])
        return f"scripts measure {known}, and the cell is of {record.metric}"
    if record.cache == "cold":
        return "scripts read warm files, and a cold one has to be proven out of the page cache"
    if record.threads == "1":
        return "it was measured on 1 thread, which each library sets in its own way"
    further = [f"{n} {value}" for n, value in record.conditions.items() if n not in WITHIN_A_PLACE]
    return f"it was measured under {further[0]}, which plain calls do not set" if further else ""


def script_of(
    record: Record, of: str, makes_data: str, array: ArraySource | None = None, digest: str = ""
) -> str:
    """Return a script that measures a cell again, of at most `LONGEST` lines.

    It reads the plain file of the data (`format_bench.families.plain_files`) from the working directory,
    and prints its value beside the record's.

    Parameters
    ----------
    record : Record
        A record with a value.
    of : str
        The cell and its results, in words.
    makes_data : str
        The command that writes the plain file.
    array : ArraySource, optional
        The data of a cell on arrays, for their chunks.
    digest : str
        SHA-256 of the plain file; empty if it is not known.

    Raises
    ------
    UnsupportedError
        If there is no code to paste, or the script would be too long.
    FormatBenchError
        If the adapter, or its codec, is not known here.
    """
    if reason := why_none(record):
        raise UnsupportedError(reason)
    family = family_of_suite(record.suite.partition(".")[0])
    configuration = Configuration.of(record)
    adapter = registry_of(FAMILIES[family.name]).find(record.format)
    path = f"data{adapter.suffix}"
    code = calls_of(configuration, path)
    if "shards" in code.write:
        raise UnsupportedError("the adapter computes the shape of its shards, which code to paste takes")
    name = plain_files.file_name(family.name, record.dataset, record.rows)
    if family.name == "arrays" and array is None:
        raise UnsupportedError("its chunks are those of your array: name the file by --data, with --out")
    size = array.chunks if array else (record.rows, record.columns)
    data = plain_files.reading(family.name, code.given, name, size)
    of_kind = _DIFFERENCES.get(record.format if family.name == "tables" else family.name)
    notes = [each for each in (code.differs, of_kind) if each]
    sections = [
        [
            f"# {of}" + (f", with {record.environment}" if record.environment else ""),
            f"# the data: {makes_data}",
            *(f"# {each}" for each in notes),
        ],
        _imports(record, code, data, digest),
        [
            *data.lines,
            *([_check(name, digest)] if digest else []),
            f"path = pathlib.Path({literal(path)})",
            _REMOVE,
        ],
        [*_writing(code), *(_reading(code) if _is_read(record) else [])],
        _measuring(record, code),
    ]
    lines = sum(map(len, sections))
    if lines > LONGEST:
        raise UnsupportedError(f"its script would have {lines} lines, more than {LONGEST}")
    between = "\n\n" if lines + len(sections) - 1 <= LONGEST else "\n"
    return between.join("\n".join(each) for each in sections) + "\n"


def _imports(record: Record, code: Code, data: plain_files.Reading, digest: str) -> list[str]:
    standard = {"pathlib", "shutil"}
    if digest:
        standard.add("hashlib")
    if record.metric in _CLOCKS:
        standard |= {"statistics", "timeit"} | ({"time"} if _CLOCKS[record.metric] else set())
    own = [*data.imports, *code.imports.splitlines()]
    if code.given in _FROM_PANDAS:
        own.append("import pyarrow as pa")
    return [f"import {', '.join(sorted(standard))}", *dict.fromkeys(filter(None, own))]


def _is_read(record: Record) -> bool:
    return record.metric.startswith("read")


def _check(name: str, digest: str) -> str:
    read = f"hashlib.sha256(pathlib.Path({literal(name)}).read_bytes())"
    return f'assert {read}.hexdigest()[:16] == "{digest[:16]}"'


def _arguments(code: Code) -> str:
    """Return the variables that are saved, as functions take them."""
    return "df" if code.given in _FROM_PANDAS else ", ".join(code.given.read_back)


def _writing(code: Code) -> list[str]:
    body = [*filter(None, [_FROM_PANDAS.get(code.given)]), *_lines(code.write)]
    return [f"def write({_arguments(code)}):", *_inner(body)]


def _reading(code: Code) -> list[str]:
    found = _TO_PANDAS.get(code.given) or ", ".join(code.given.read_back)
    touched = [_TOUCHED] if "array" in code.given.read_back else []
    return ["def read():", *_inner([*_lines(code.read), *touched, f"return {found}"])]


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def _inner(lines: Sequence[str]) -> list[str]:
    return indent("\n".join(lines), "    ").splitlines()


def _measuring(record: Record, code: Code) -> list[str]:
    save = f"write({_arguments(code)})"
    if record.metric in _COUNTS:
        each = _COUNTS[record.metric]
        total = f'sum({each} for each in (path, *path.rglob("*")) if each.is_file())'
        return [save, f"print(f{_result(record, total)})"]
    # In timeit's function, what was read is freed after the clock has stopped.
    call, setup = ("found = read()", "pass") if _is_read(record) else (save, _REMOVE)
    calls = max(1, len(record.repeats))
    clock = f"timer={_CLOCKS[record.metric]}, " if _CLOCKS[record.metric] else ""
    options = f"{clock}number=1, repeat={calls + 1}, globals=globals()"
    return [
        *([save] if _is_read(record) else []),
        f"seconds = timeit.repeat({literal(call)}, {literal(setup)}, {options})[1:]",
        f"print(f{_result(record, 'statistics.median(seconds):.6g', f'the median of {calls}')})",
    ]


def _result(record: Record, expression: str, how: str = "") -> str:
    """Return the literal of the line that a script prints, with the record's value."""
    value = math.nan if record.value is None else record.value
    unit = f" {record.unit}" if record.unit in {"seconds", "bytes"} else ""
    shown = f"{value:.6g}" if record.unit == "seconds" else f"{value:.0f}"
    how = f", {how}" if how else ""
    return f"'{record.metric}: {{{expression}}}{unit}{how}; the record has {shown}{unit}'"
