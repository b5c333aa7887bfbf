"""Redaction of results to pass on: facts are kept by name, and own names become numbers."""

from __future__ import annotations

import getpass
import platform
import re
import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from format_bench.conditions import axes
from format_bench.families.operations import operations_of
from format_bench.families.questions import declared
from format_bench.instruments.medium import MediumFacts
from format_bench.results.bundle import plain_text
from format_bench.results.load import ASKED, Results, suite_of
from format_bench.results.records import Record
from format_bench.results.suites import SUITES, family_of_suite

ALL = None
"""Of a section of metadata, every fact that is a text or a number."""

_STORAGE = ("file_system", "rotational", "scheduler", "read_ahead_bytes", "emulated")

KEPT: dict[str, tuple[str, ...] | None] = {
    "commit": ("hash", "clean"),
    "python": ("implementation", "version", "compiler"),
    "libraries": ALL,
    "c_libraries": ALL,
    "system": ("os", "kernel", "libc"),
    "cpu": ("model", "logical", "usable", "smt", "governor"),
    "memory": ("total_bytes", "transparent_huge_pages"),
    "scratch": _STORAGE,
    "load_average": ("start", "end"),
}
"""Facts of a run's metadata that a bundle has; whatever else a later version collects stays at home."""

_MEDIUM = (*_STORAGE, "random_read_seconds", "sequential_bytes_per_second", "sync_seconds")

# Builders of kernels add names to its version; the distribution's own numbers come first.
_KERNEL = re.compile(r"\d+(?:[.-]\d+)*")

_URL = re.compile(r"\b[A-Za-z][\w+.-]*://[^\s\"'>)\]]+")

# In quotes also with blanks; else up to the next one, and further words with a slash.
_QUOTED_PATH = re.compile(r"([\"'`])(?:~|[A-Za-z]:)?[\\/][^\"'`]*\1")
_WORD = r"[^\s\"'`,;:)\]]*"
_PATH = re.compile(rf"(?<![\w.])(?:~|[A-Za-z]:)?[\\/][\w.]{_WORD}(?: [^\s\"'`]*[\\/]{_WORD})*")

URL, PATH, USER, HOST, OWN = "URL", "PATH", "USER", "HOST", "X"
"""Placeholders of addresses, paths, names of the user and the machine, and other own words."""

# Shorter names are parts of usual words.
_LEAST_NAME = 3

# Options of commands whose values are choices of this project; others name own things.
_PLAIN_OPTIONS = {
    "--suite", "--datasets", "--formats", "--rows", "--codecs", "--tracks", "--steps", "--repeats",
    "--time-budget", "--step-limit", "--sample", "--chunks", "--shard", "--preset", "--weight",
    "--require", "--language", "--parse-dates",
}  # fmt: skip

# Axes whose values users name.
_OWN_AXES = {"medium", "place", "library set"}


@dataclass
class Names:
    """Numbers in place of own names, the same number for the same name."""

    with_names: bool = False
    _known: defaultdict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))

    def of(self, kind: str, name: str) -> str:
        """Return the placeholder of an own name, e.g. "own-1"."""
        if self.with_names:
            return plain_text(name)
        known = self._known[kind]
        return known.setdefault(name, f"{kind}-{len(known) + 1}")

    @property
    def counts(self) -> dict[str, int]:
        """How many names of each kind have been replaced."""
        return {kind: len(known) for kind, known in self._known.items()}


def scrubbed(text: str, private: Sequence[str] = ()) -> str:
    """Return a sentence without addresses, paths, and the names of user and machine.

    Parameters
    ----------
    text : str
        The sentence.
    private : sequence of str
        Further texts to replace, e.g. the folder of measured files.
    """
    for each in sorted(private, key=len, reverse=True):
        text = text.replace(each, PATH)
    text = _PATH.sub(PATH, _QUOTED_PATH.sub(PATH, _URL.sub(URL, text)))
    for name, other in _own_words().items():
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", other, text)
    return plain_text(text)


def _own_words() -> dict[str, str]:
    found = {}
    with suppress(OSError, KeyError, ImportError):  # a user without a name
        found[getpass.getuser()] = USER
    node = platform.node()
    found |= {node: HOST, node.partition(".")[0]: HOST}
    return {name: other for name, other in found.items() if len(name) >= _LEAST_NAME}


def is_own(record: Record, own: Mapping[str, object]) -> bool:
    """Return whether a record is of a user's own data, which `own` may name."""
    family = family_of_suite(suite_of(record))
    return record.dataset in own or record.dataset not in operations_of(family).datasets()


def redacted(
    results: Results, own: Mapping[str, object], names: Names
) -> tuple[list[Record], list[dict[str, Any]]]:
    """Return records and metadata without personal facts.

    Parameters
    ----------
    results : Results
        The results.
    own : mapping
        Names of own data and questions, as the folder of results has them.
    names : Names
        Takes the names.
    """
    media = _media(results, names)
    private = [*_folders(results)]
    records = [_record(each, own, names, media, private) for each in results.records]
    renamed = {
        (each.dataset, each.query): (other.dataset, other.query)
        for each, other in zip(results.records, records, strict=True)
    }
    return records, [_run(each, media, renamed) for each in results.metadata]


def _record(
    record: Record, own: Mapping[str, object], names: Names, media: Mapping[str, str], private: list[str]
) -> Record:
    is_private = is_own(record, own)
    conditions = {
        name: _condition(name, value, names, media) for name, value in record.conditions.items()
    }
    sentence = scrubbed(record.sentence, private)
    query = record.query
    if query and query not in _known_questions(record):
        query = names.of("question", query)
    if not is_private or names.with_names:
        return replace(record, conditions=conditions, sentence=sentence, query=query)
    # Reasons of own data name columns, and values that came back changed.
    reason = "" if record.value is not None else f"{record.status} on own data; the reason stays there"
    dataset = names.of("own", record.dataset)
    return replace(record, dataset=dataset, conditions=conditions, sentence=reason, query=query)


def _known_questions(record: Record) -> set[str]:
    """Return the questions that the project itself asks data of a record's family."""
    name = suite_of(record)
    questions = declared(family_of_suite(name).name)
    asked = {each for dataset in ("", *questions.datasets) for each in questions.to(dataset).by_name}
    of_asv = SUITES[name].benchmarks if name in SUITES else ()
    return asked.union(*(each.queries for each in of_asv))


def _condition(name: str, value: str, names: Names, media: Mapping[str, str]) -> str:
    if name == "medium":
        return media.get(value) or names.of("medium", value)
    if name in _OWN_AXES or name not in {*axes(), "cache", "track"}:
        return names.of(name.replace(" ", "-"), value)
    return value


def _media(results: Results, names: Names) -> dict[str, str]:
    """Return the names of media: those that follow from their facts, and numbers for users' own."""
    found = {}
    for run in results.metadata:
        media = run.get("media")
        for name, facts in media.items() if isinstance(media, dict) else ():
            label = ""
            with suppress(TypeError, AttributeError, ValueError):
                known = {each: facts.get(each) for each in MediumFacts.__dataclass_fields__}
                label = MediumFacts(**known).label(facts.get("random_read_seconds"))
            found[name] = name if name == label else names.of("medium", name)
    return found


def _folders(results: Results) -> Iterator[str]:
    """Yield folders that sentences may name."""
    yield from (str(Path.home()), str(Path.cwd()))
    for run in results.metadata:
        media = run.get("media")
        places = [run.get("scratch"), *(media.values() if isinstance(media, dict) else ())]
        for each in places:
            path = each.get("path") if isinstance(each, dict) else None
            if isinstance(path, str) and len(path) > 1:
                yield path


def _run(
    run: Mapping[str, Any],
    media: Mapping[str, str],
    renamed: Mapping[tuple[str, str], tuple[str, str]],
) -> dict[str, Any]:
    """Return the kept facts of a run's metadata."""
    found: dict[str, Any] = {"started": str(run.get("started", ""))[:10]}
    found |= _facts(run, ("run_id", "machine", "seed", "scale"))
    threads = run.get("threads")
    if isinstance(threads, dict):
        in_force = threads.get("in_force")
        inner = in_force if isinstance(in_force, dict) else {}
        found["threads"] = _facts({"policy": threads.get("policy"), **inner}, ALL)
    for section, kept in KEPT.items():
        if isinstance(run.get(section), dict):
            found[section] = _facts(run[section], kept)
    kernel = found.get("system", {}).get("kernel")
    if isinstance(kernel, str):
        numbers = _KERNEL.match(kernel)
        found["system"]["kernel"] = numbers[0] if numbers else None
    if isinstance(run.get("media"), dict):
        found["media"] = {
            media[name]: _facts(facts, _MEDIUM)
            for name, facts in run["media"].items()
            if isinstance(facts, dict)
        }
    if asked := _asked(run, renamed):
        found["data"] = asked
    return found


def _asked(
    run: Mapping[str, Any], renamed: Mapping[tuple[str, str], tuple[str, str]]
) -> dict[str, dict[str, Any]]:
    """Return how often each of a user's own questions is asked, by the names of the redacted records."""
    found: dict[str, dict[str, Any]] = {}
    data = run.get("data")
    for name, facts in data.items() if isinstance(data, dict) else ():
        asked = facts.get(ASKED) if isinstance(facts, dict) else None
        for question, often in asked.items() if isinstance(asked, dict) else ():
            # A question without a record is one of another suite's run.
            dataset, query = renamed.get((name, question), ("", ""))
            if dataset and isinstance(often, int | float):
                found.setdefault(dataset, {ASKED: {}})[ASKED][query] = often
    return found


def _facts(facts: Mapping[str, Any], kept: tuple[str, ...] | None) -> dict[str, Any]:
    return {
        plain_text(name): plain_text(value) if isinstance(value, str) else value
        for name, value in facts.items()
        if (kept is None or name in kept) and _is_fact(value)
    }


def _is_fact(value: Any) -> bool:
    if isinstance(value, list):
        return all(isinstance(each, (int, float)) for each in value)
    return value is None or isinstance(value, (str, int, float, bool))


def command_of(run: Mapping[str, Any]) -> str:
    """Return the command of a run, with own names as `OWN`; empty if it is not known."""
    try:
        _, *words = shlex.split(str(run.get("command") or ""))
    except ValueError:
        return ""
    plain = _PLAIN_OPTIONS | {axis.option for name, axis in axes().items() if name not in _OWN_AXES}
    found, is_plain, has_command = ["format-bench"], False, False
    for word in words:
        if word.startswith("-"):
            name, equals, value = word.partition("=")
            is_plain = name in plain
            found.append(f"{name}{equals}{value if is_plain else equals and OWN}")
        else:
            found.append(word if is_plain or not has_command else OWN)
            # `study` has commands of its own.
            is_plain, has_command = False, has_command or word != "study"
    return plain_text(" ".join(found))
