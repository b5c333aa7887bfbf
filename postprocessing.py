"""Turns asv's newest results into comparison tables, and adds a report to the site that asv publishes.

As a script it prints the tables, and writes them as CSV and Markdown. asv imports it as a plug-in with
every command, so this file imports nothing but asv until there is something to do.
"""

from __future__ import annotations

from pathlib import Path

from asv.console import log
from asv.publishing import OutputPublisher


class Report(OutputPublisher):
    """The overview and the report pages, inside `asv publish` and `asv gh-pages`."""

    name = "report"
    button_label = "Report"
    description = "Compare formats, and see what changed"
    order = 4

    @classmethod
    def publish(cls, conf, _repo, _benchmarks, _graphs, _revisions):  # noqa: ANN001, ANN206 (as asv has it)
        """Add the pages to the site that asv has begun in `conf.html_dir`."""
        try:
            from format_bench.dashboard.site import publish
        except ModuleNotFoundError as error:
            log.warning(
                f"the site has no report: {error.name} is not installed; pip install -e '.[site]'"
            )
            return
        publish(conf, Path(__file__).resolve().parent, log.warning)


def main() -> None:
    """Print the comparison of the newest results, and write it beside them."""
    from format_bench.dashboard.postprocessing import command

    command()


if __name__ == "__main__":
    main()
