"""Input of all pages: asv's configuration, the history with its changes, and the latest run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from format_bench.asv_support.results import records_of
from format_bench.asv_support.run import AsvMetadataFile
from format_bench.changes.history import History, read_history
from format_bench.changes.summary import LineChanges, changes_by_line
from format_bench.report.model import Outline, outline_of
from format_bench.results import noise_floor
from format_bench.results.load import Results, suite_of
from format_bench.results.suites import suite_order

if TYPE_CHECKING:
    from format_bench.asv_support.results import Run
    from format_bench.results.noise_floor import Floors
    from format_bench.results.records import Record


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

    @cached_property
    def floors(self) -> Floors | None:
        """Noise floors of this machine; None if they were not measured."""
        path = self.results_dir.parent / "noise.json"
        return noise_floor.read(path) if path.exists() else None


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

    @cached_property
    def suites_missing(self) -> list[str]:
        """The modules of suites that asv knows and that have no result in this run."""
        return sorted(_modules(self.benchmarks) - _modules(cell.benchmark for cell in self.run.cells))


# Facts of the metadata that identify the run in asv; other facts are the same for readers.
_ASV_ONLY = ("asv_commit", "time")


def latest_run(config: SiteConfig, history: History) -> LatestRun:
    """Return the run of the newest commit, which need not be the run that was made last.

    Earlier library sets may be measured after later ones.
    """
    run = history.lines[0].points[-1].run
    metadata = AsvMetadataFile(config.results_dir, run.environment).newest(run.commit)
    shown = {name: fact for name, fact in metadata.items() if name not in _ASV_ONLY}
    records = records_of(run, metadata)
    results = Results(
        config.project, sorted(records, key=_report_order), [shown] if shown else [], config.floors
    )
    benchmarks = json.loads((config.results_dir / "benchmarks.json").read_text(encoding="utf-8"))
    # asv keeps the version of the file's form among the benchmarks.
    benchmarks.pop("version")
    return LatestRun(run, records, results, outline_of(results), benchmarks)


def _modules(benchmarks: Iterable[str]) -> set[str]:
    return {name.partition(".")[0] for name in benchmarks}


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

    @classmethod
    def read(cls, config: SiteConfig) -> SiteData:
        """Read the results that a configuration names.

        Raises
        ------
        ResultsNotFoundError
            If asv has no results.
        """
        history = read_history(config.results_dir, config.root)
        return cls(config, history, changes_by_line(history, config.floors), latest_run(config, history))
