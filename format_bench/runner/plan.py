"""Plan of a run: the cases that follow from a request."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from adapter_core import (
    Codec,
    Registry,
    UnavailableError,
    UnknownLevelError,
    UnknownNameError,
    UnsupportedError,
)
from adapter_core.codec_choice import DEFAULTS, RECOMMENDED
from adapter_core.errors import InvalidRequestError
from format_bench.conditions import axes, why_not
from format_bench.families.cases import Case, codec_on
from format_bench.families.operations import operations_of, registry_of
from format_bench.families.questions import Question, Questions, asking, declared
from format_bench.results.conditions import Conditions
from format_bench.results.display.text import joined
from format_bench.results.suites import ALL_ADAPTERS, FAMILIES, SUITES, Family, Suite, Track
from format_bench.runner.media import Scratch
from format_bench.runner.shards import Shard
from format_bench.runner.user_data import Source

NO_CODEC = "none"
OWN_DEFAULT = "default"
ALL = "all"
"""Each codec of a format; as a level, each of the codec's."""

# Property of the adapters whose files of settings differ from the usual ones, by the settings.
_DIFFERS = {DEFAULTS: "has_own_default", RECOMMENDED: "has_advice"}

# Two or three of many levels, e.g. of zstd's 22, would hide the level at which the cost soars. So of a
# range of more levels than this every sixth is measured, too.
_LONG_RANGE = 12
_EVERY = 6


@dataclass(frozen=True)
class RunRequest:
    """A run as the user asks for it; with the defaults of `format-bench run`."""

    suite: str | None = None
    """One of `SUITES`; by default the first suite of the family of the data."""
    formats: tuple[str, ...] = ()
    """Labels; none for all."""
    datasets: tuple[str, ...] = ()
    """Names; none for the suite's default."""
    rows: int | None = None
    usual_rows: int | None = None
    """Rows without `rows`, of data sets that have so many; by default the suite's."""
    codecs: tuple[str, ...] = ()
    """E.g. "zstd", "zstd:3", "zstd:all", "none", "default", "all" or "all:all"; none for the suite's."""
    tracks: tuple[str, ...] = ()
    """Names of the suite's tracks; none for all."""
    steps: tuple[str, ...] = ()
    """Names of the family's steps; none for all."""
    conditions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Values to measure under, by name of an axis; of the others the defaults."""
    further_settings: bool = False
    """Whether the suite's further settings, e.g. libraries' own defaults, are measured, too, where these
    differ and nothing is chosen."""
    questions: Questions | None = None
    """The user's own questions, in place of the suite's."""
    user_data: tuple[Source, ...] = ()
    """The user's own data sets, in place of generated ones."""
    repeats: int | None = None
    """Calls of each step in all rounds together; by default until their median is stable."""
    cold: bool = False
    time_budget_seconds: float = math.inf
    limit_seconds: float | None = None
    """Wall time after which a step counts as timed out, if it is another than usual."""
    scratch: Path | None = None
    """The folder for measured files; by default the system's for temporary ones."""
    media: tuple[Scratch, ...] = ()
    """Folders on media to compare, in place of `scratch`."""
    shard: Shard | None = None
    """The part of the plan to measure; by default all."""
    out: Path = Path("reports/run")
    fresh: bool = False


@dataclass(frozen=True)
class Plan:
    """The cases of a run."""

    cases: tuple[Case, ...]
    fingerprints: Mapping[str, str]
    """Of the whole plan, by the names of its shard and itself, if this is a shard."""
    left_out: tuple[str, ...]
    """Requested combinations that are impossible, in sentences without a full stop."""


def suite_of(request: RunRequest, user_family: str | None = None, name: str = "") -> Suite:
    """Return the suite of a request.

    Parameters
    ----------
    request : RunRequest
        The request.
    user_family : str, optional
        Name of the family of the user's data.
    name : str
        Name of the user's data, for the message.

    Raises
    ------
    InvalidRequestError
        If the suite is of another family than the user's data, or makes its data itself.
    """
    family = FAMILIES[user_family] if user_family else next(iter(FAMILIES.values()))
    if request.questions:
        return _asking_suite(request, request.questions)
    if request.suite is None:
        return family.suites[0]
    suite = SUITES[request.suite]
    if user_family and suite.family != user_family:
        raise InvalidRequestError(f"--suite {suite.name}: {name} is {family.user_data}")
    if user_family and suite.generated_only:
        reason = f"its workers make the rows of a named data set; they cannot make rows of {name}"
        raise InvalidRequestError(f"--suite {suite.name}: {reason}")
    return suite


def _asking_suite(request: RunRequest, questions: Questions) -> Suite:
    """Return the suite that asks a user's questions."""
    first, *others = questions.by_name.values()
    for each in others:
        if each.kind != first.kind:
            raise each.refused(f"it asks {each.kind}, and {first.name!r} {first.kind}; write two files")
    family = asking(first.kind)
    suites = family.asking_suites
    found = next((each for each in suites if request.suite in {None, each.name}), None)
    if found is None:
        names = joined(each.name for each in suites)
        raise InvalidRequestError(f"--suite {request.suite}: questions to {first.kind} are of {names}")
    own: dict[str, Question] = {}
    for dataset in request.datasets or [""]:
        own |= declared(family.name).to(dataset).by_name
    for each in questions.by_name.values():
        if each.name in own and own[each.name].fingerprint != each.fingerprint:
            raise each.refused(f"the suite {found.name} asks another one of this name; rename it")
    return found


def plan(request: RunRequest, user: Sequence[tuple[str, int]] = (), family: str | None = None) -> Plan:
    """Return the cases of a run, data set by data set.

    Parameters
    ----------
    request : RunRequest
        The request.
    user : sequence of (str, int)
        Names and numbers of rows of the user's own data sets, which take the place of generated ones.
    family : str, optional
        Name of the family of these data sets.

    Raises
    ------
    UnknownNameError
        If a format, a data set, a codec or a step is unknown.
    InvalidRequestError
        If nothing is left to measure, or the request contradicts itself.
    """
    if request.rows is not None and request.rows < 1:
        raise InvalidRequestError(f"--rows {request.rows}: at least 1 is needed")
    suite = suite_of(request, family, user[0][0] if user else "")
    if request.codecs and not FAMILIES[suite.family].takes_codecs:
        adapters = f"{FAMILIES[suite.family].adapter}s"
        raise InvalidRequestError(f"--codecs: {adapters} offer no choice of a codec")
    if request.codecs and suite.tracks:
        raise InvalidRequestError(f"--codecs: the tracks of {suite.name} decide the codec")
    if request.tracks and not suite.tracks:
        raise InvalidRequestError(f"--tracks: the suite {suite.name} has none")
    kind = FAMILIES[suite.family]
    registry = registry_of(kind)
    labels = _known("format", request.formats, registry.names()) or _labels(suite, registry)
    cases: list[Case] = []
    left_out: dict[str, None] = {}
    for dataset, rows in user or _generated(request, suite, kind):
        for label in labels:
            cases += _cases_of_tracks(request, suite, registry, (label, dataset, rows))
            for text in [] if suite.tracks else request.codecs or _usual_codecs(suite):
                try:
                    cases += [
                        Case(
                            *(label, dataset, rows, Conditions(), *choice, suite.name),
                            questions=request.questions,
                        )
                        for choice in _choices(text, label, registry)
                    ]
                except (
                    UnknownNameError,
                    UnknownLevelError,
                    UnsupportedError,
                    UnavailableError,
                ) as error:
                    left_out[str(error)] = None
    if not cases:
        raise InvalidRequestError(f"nothing is left to measure: {'; '.join(left_out)}")
    steps_of(request, cases)
    # Once more without doubles: levels of a lossy codec are the same under an error bound.
    under = dict.fromkeys(_under(request, dict.fromkeys(cases)))
    _refuse_lost_levels(request, under)
    whole = tuple(_with_settings(under, _further_settings(request, suite), registry))
    return Plan(*_sharded(request.shard, whole), tuple(left_out))


def _refuse_lost_levels(request: RunRequest, cases: Iterable[Case]) -> None:
    """Raise `InvalidRequestError` if no case has a named level: an error bound takes its place."""
    measured = {(each.codec, each.level) for each in cases}
    for text in request.codecs:
        name, level = codec_choice(text)
        if level is not None and (name, level) not in measured and (name, None) in measured:
            reason = f"an error bound takes the place of the level; write {name}, or add the bound none"
            raise InvalidRequestError(f"--codecs {text}: {reason}")


def _sharded(shard: Shard | None, cases: tuple[Case, ...]) -> tuple[tuple[Case, ...], Mapping[str, str]]:
    return (cases, {}) if shard is None else (shard.cases(cases), shard.fingerprints(cases))


def steps_of(request: RunRequest, cases: Sequence[Case]) -> set[str]:
    """Return the names of the steps to make.

    Raises
    ------
    UnknownNameError
        If the family of the cases has no such step.
    InvalidRequestError
        If cold reads are requested by their step, but not by `RunRequest.cold`.
    """
    steps = cases[0].family.steps_of(SUITES[cases[0].suite])
    wanted = _known("step", request.steps, [each.name for each in steps])
    possible = {each.name for each in steps if request.cold or each.cache != "cold"}
    if cold := set(wanted) - possible:
        raise InvalidRequestError(f"--steps {', '.join(sorted(cold))}: add --cold")
    return set(wanted) or possible


def on_media(cases: Iterable[Case], media: Sequence[str]) -> tuple[Case, ...]:
    """Return each case on each medium; a case's media follow each other, as a machine may drift."""
    return tuple(
        replace(case, conditions=case.conditions | {"medium": name}) for case in cases for name in media
    )


def _under(request: RunRequest, cases: Iterable[Case]) -> Iterator[Case]:
    """Yield each case under all conditions of a request; conditions of a case follow each other."""
    known = axes()
    values = {
        name: dict.fromkeys(map(axis.parse, request.conditions.get(name, ()))) or [axis.default]
        for name, axis in known.items()
    }
    for case in cases:
        for taken in itertools.product(*values.values()):
            conditions = case.conditions | dict(zip(values, taken, strict=True))
            yield replace(case, conditions=conditions)


def _further_settings(request: RunRequest, suite: Suite) -> tuple[str, ...]:
    """Return the settings that are measured beside the usual ones."""
    is_chosen = request.codecs or request.conditions.get("settings")
    return suite.settings if request.further_settings and not is_chosen else ()


def _with_settings(
    cases: Iterable[Case], settings: Sequence[str], registry: Registry[Any]
) -> Iterator[Case]:
    """Yield each case; after an uncompressed one its settings, where its adapter differs by them."""
    for case in cases:
        yield case
        for name in settings if case.codec is None else ():
            if why_not(other := under_settings(case, name)):
                continue
            try:
                adapter = registry.find(case.format)
            except UnavailableError:
                continue
            if getattr(adapter, _DIFFERS[name], False):
                yield other


def under_settings(case: Case, name: str) -> Case:
    """Return a case with settings instead of its own."""
    return replace(case, conditions=case.conditions | {"settings": name})


def _cases_of_tracks(
    request: RunRequest, suite: Suite, registry: Registry[Any], where: tuple[str, str, int]
) -> Iterator[Case]:
    """Yield a case for each track, with the codec that the adapter has of it."""
    tracks = suite.tracks_by_name
    usual = [name for name in tracks if _is_usual(tracks[name], suite, request.questions)]
    for name in _known("track", request.tracks, list(tracks)) or usual:
        track = tracks[name]
        try:
            codec, level = codec_on(track, registry.find(where[0]))
        except UnavailableError:
            codec, level = None, None  # as the runner will find out, and record
        conditions = Conditions({"track": track.name})
        yield Case(*where, conditions, codec, level, suite.name, questions=request.questions)


def _is_usual(track: Track, suite: Suite, questions: Questions | None) -> bool:
    """Return whether a track is measured that is not named."""
    if questions is None or not any(each.for_own_questions for each in suite.tracks):
        return not track.for_own_questions and not (
            questions and not questions.tuned and track.name == "tuned"
        )
    return track.for_own_questions


def _labels(suite: Suite, registry: Registry[Any]) -> list[str]:
    if suite.formats and suite.adapter_group == ALL_ADAPTERS:
        return list(suite.formats)  # few of all can do what the suite measures
    if not suite.adapter_group:
        return registry.usual_names()
    return sorted(label for label, group in registry.groups().items() if suite.includes(label, group))


def _generated(request: RunRequest, suite: Suite, family: Family) -> list[tuple[str, int]]:
    known = operations_of(family).datasets()
    names = _known("data set", request.datasets, known) or [suite.default_dataset]
    run_size = operations_of(family).run_size
    usual = request.usual_rows or suite.run_size
    return [(name, request.rows or run_size(name, usual)) for name in names]


def _known(what: str, names: Iterable[str], known: list[str]) -> list[str]:
    """Return names without doubles, as the known ones are spelt, if only the case differs."""
    spelt = {name.lower(): name for name in known}
    found: dict[str, None] = {}
    for name in names:
        if name.lower() not in spelt:
            raise UnknownNameError(what, name, known)
        found[spelt[name.lower()]] = None
    return list(found)


def _usual_codecs(suite: Suite) -> list[str]:
    return [_as_option(choice) for choice in suite.codecs] or [NO_CODEC]


def _choices(text: str, label: str, registry: Registry[Any]) -> Iterator[tuple[str | None, int | None]]:
    """Yield the codecs and levels of a format that a text like "zstd:3" or "all" names."""
    name, is_full = text.removesuffix(f":{ALL}"), text.endswith(f":{ALL}")
    if not (is_full or name in {ALL, OWN_DEFAULT}):
        yield codec_choice(text)
        return
    try:
        adapter = registry.find(label)
    except UnavailableError:
        yield None, None  # as the runner will find out, and record
        return
    if name == OWN_DEFAULT:
        yield adapter.default_codec, None
        return
    if name == ALL and adapter.codecs:
        yield None, None
    for codec in adapter.codecs if name == ALL and adapter.codecs else [adapter.codec_named(name)]:
        for level in _levels(codec, is_full=is_full):
            yield codec.name, level


def _levels(codec: Codec, *, is_full: bool) -> list[int | None]:
    """Return all levels, or the lowest, the default, the highest and some of many."""
    levels = codec.levels or [None]
    if is_full:
        return list(levels)
    step = _EVERY if len(levels) > _LONG_RANGE else len(levels)
    wanted = {levels[-1], codec.default_level, *levels[::step]}
    return [each for each in levels if each in wanted]


def _as_option(choice: str) -> str:
    """Return a codec choice of asv's, e.g. "own default" or "zstd level 1", as `--codecs` takes it."""
    return OWN_DEFAULT if choice == "own default" else choice.replace(" level ", ":")


def codec_choice(text: str) -> tuple[str | None, int | None]:
    """Return codec and level of a text like "zstd:3"; of "blosc:lz4" all is the codec's name."""
    name, colon, level = text.rpartition(":")
    try:
        number = int(level) if colon else None
    except ValueError:
        number = None
    name = text if number is None else name
    if name == NO_CODEC:
        return None, None
    return name, number
