"""Input of all pages: asv's configuration, the history with its changes, and the latest run."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from format_bench.asv_support.results import Run, records_of
from format_bench.asv_support.run import AsvMetadataFile
from format_bench.changes.history import History, read_history
from format_bench.changes.summary import LineChanges, changes_by_line
from format_bench.report.model import Outline, outline_of
from format_bench.results.load import Results, suite_of
from format_bench.results.records import Record
from format_bench.results.suites import SUITES, suite_order


@dataclass(frozen=True)
class SiteConfig:
    """Settings of asv.conf.json that concern the pages, and the checkout."""

    project: str
    project_url: str
    commit_url: str
    """Prefix of a commit's address, to which its hash is appended."""
    site_url: str
    """Address of the site, with a slash at its end; empty if the configuration has no `site_url`."""
    results_dir: Path
    html_dir: Path
    root: Path
    """The checkout: its git history has the library sets, its folder `docs` the documents."""

    @property
    def results_name(self) -> str:
        """The folder of asv's results as a reader of the site finds it in a checkout."""
        place = self.results_dir.absolute()
        is_inside = place.is_relative_to(self.root.absolute())
        return str(place.relative_to(self.root.absolute()) if is_inside else place.name)


def site_config(configuration: Any, root: Path) -> SiteConfig:
    """Return the settings of a site.

    Parameters
    ----------
    configuration : asv.config.Config
        asv's; relative paths in it are relative to the working directory.
    root : Path
        The folder of the checkout.
    """
    # asv ignores names that it does not know, and has no attribute for them unless they are set.
    site_url = getattr(configuration, "site_url", "")
    return SiteConfig(
        project=configuration.project,
        project_url=configuration.project_url,
        commit_url=configuration.show_commit_url,
        site_url=f"{site_url.rstrip('/')}/" if site_url else "",
        results_dir=Path(configuration.results_dir),
        html_dir=Path(configuration.html_dir),
        root=root,
    )


@dataclass(frozen=True)
class LatestRun:
    """The run of the newest commit, as asv's results and as the report's."""

    run: Run
    records: list[Record]
    """A record for each cell of the run, in the same order."""
    results: Results
    """The same records in the order of the report, and the metadata of the run."""
    outline: Outline
    benchmarks: Mapping[str, Any]
    """asv's facts on all benchmarks, by name."""
    changes: LineChanges
    """The changes of its environment and machine."""
    folder: str = ""
    """Folder of its pages, relative to the site, with a slash; empty for the run that comes first."""

    @property
    def up(self) -> str:
        """Prefix of addresses from its pages to the site's."""
        return "../" * self.folder.count("/")

    @property
    def point(self) -> str:
        """Name of its commit's date, e.g. "2026-11"."""
        return self.changes.line.points[-1].name

    @cached_property
    def suites_missing(self) -> list[str]:
        """The modules of suites that every run measures, and that have no result in this one."""
        return [each for each in self._suites_without_result if not _is_optional(each)]

    @cached_property
    def suites_not_asked(self) -> list[str]:
        """The modules of optional suites that have no result in this run."""
        return [each for each in self._suites_without_result if _is_optional(each)]

    @cached_property
    def _suites_without_result(self) -> list[str]:
        return sorted(_modules(self.benchmarks) - _modules(cell.benchmark for cell in self.run.cells))


# Facts of the metadata that identify the run in asv; other facts are the same for readers.
_ASV_ONLY = ("asv_commit", "time")


def latest_runs(config: SiteConfig, changes: Iterable[LineChanges]) -> list[LatestRun]:
    """Return the run of the newest commit of each machine, the newest one first.

    It need not be the run that was made last: earlier library sets may be measured after later ones.
    """
    benchmarks = json.loads((config.results_dir / "benchmarks.json").read_text(encoding="utf-8"))
    # asv keeps the version of the file's form among the benchmarks.
    benchmarks.pop("version")
    found: dict[str, LatestRun] = {}
    for each in changes:
        if each.line.machine not in found:
            folder = folder_of(each.line.machine) if found else ""
            found[each.line.machine] = _latest_run(config, each, benchmarks, folder)
    return list(found.values())


def folder_of(machine: str) -> str:
    """Return the folder of the pages of a machine other than the first one."""
    plain = re.sub(r"[^\w.-]+", "-", machine)
    # Names that differ in other characters alone need different folders.
    mark = "" if plain == machine else f"-{hashlib.sha256(machine.encode()).hexdigest()[:6]}"
    return f"machine-{plain}{mark}/"


def _latest_run(
    config: SiteConfig, changes: LineChanges, benchmarks: Mapping[str, Any], folder: str
) -> LatestRun:
    run = changes.line.points[-1].run
    file = AsvMetadataFile(config.results_dir, run.environment)
    metadata = file.newest(run.commit, run.cpu)
    shown = {name: fact for name, fact in metadata.items() if name not in _ASV_ONLY}
    records = records_of(run, metadata)
    results = Results(
        config.project,
        sorted(records, key=_report_order),
        [shown] if shown else [],
        source=f"{config.results_name}#{run.machine}",
    )
    return LatestRun(run, records, results, outline_of(results), benchmarks, changes, folder)


def _modules(benchmarks: Iterable[str]) -> set[str]:
    return {name.partition(".")[0] for name in benchmarks}


def _is_optional(module: str) -> bool:
    suite = SUITES.get(module)
    return suite is not None and suite.optional


def _report_order(record: Record) -> tuple[int, str]:
    return suite_order(suite_of(record))


@dataclass(frozen=True)
class SiteData:
    """Everything that pages are made of."""

    config: SiteConfig
    history: History
    changes: list[LineChanges]
    """The changes of each line of the history, the line of the latest run first."""
    latest: LatestRun
    """The run of the newest commit."""
    other_machines: list[LatestRun]
    """The run of the newest commit of each other machine."""

    @property
    def runs(self) -> list[LatestRun]:
        """The latest run of each machine, the newest commit's first."""
        return [self.latest, *self.other_machines]

    @classmethod
    def read(cls, config: SiteConfig) -> SiteData:
        """Read the results that a configuration names.

        Raises
        ------
        ResultsNotFoundError
            If asv has no results.
        """
        history = read_history(config.results_dir, config.root)
        changes = changes_by_line(history)
        first, *others = latest_runs(config, changes)
        return cls(config, history, changes, first, others)
