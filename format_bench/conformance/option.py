"""Options of pytest for the conformance kit.

A plug-in by entry point, since pytest does not read options from a folder given by ``--pyargs``.
"""

from __future__ import annotations

from typing import Any

import pytest

ALL, ENVIRONMENT = "all", "environment"
TIER = "format_bench_tier"
"""Key of the choice among the inputs of a process of xdist."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    parser.addoption(
        "--random-tables",
        metavar="N",
        type=int,
        help="number of random tables that format_bench.conformance tries with each format; by default "
        "10, the same in each run, else new ones, or as --hypothesis-seed says",
    )
    parser.addoption(
        "--adapter",
        metavar="MODULE:CLASS",
        help="adapter that format_bench.conformance tests, e.g. my_package:MyFormat; by default all",
    )
    parser.addoption(
        "--adapters",
        choices=("reference", "changed", ENVIRONMENT, ALL),
        default=ALL,
        help="adapters of this project to test: a few that together have each shared base class and "
        "each library, these and what changed files concern, those of the environment whose interpreter "
        "runs, or all (default)",
    )
    parser.addoption(
        "--since",
        metavar="COMMIT",
        default="",
        help="commit that --adapters changed compares the work tree with; by default the point where "
        "the branch left main, on main the commit before the last one",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Choose the adapters, and fail early if the name is not an adapter class."""
    # This plug-in is loaded into every run of pytest on a machine: it imports nothing unasked.
    if config.getoption("--adapter") is not None:
        from format_bench.conformance.selection import load

        load(config.getoption("--adapter"))
    if config.getoption("--adapters") != ALL:
        from format_bench.conformance import selection, tiers

        # Processes of xdist take the choice of the first one, which alone asks git.
        given = getattr(config, "workerinput", {}).get(TIER)
        selection.tier = (
            tiers.Tier.of_plain(given)
            if given
            else tiers.chosen_tier(config.getoption("--adapters"), config.getoption("--since"))
        )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests without an adapter of the environment, if only these are tested."""
    if config.getoption("--adapters") != ENVIRONMENT:
        return
    from format_bench.conformance import selection

    own = selection.labels_of_tier()
    left_out = [each for each in items if own.isdisjoint(_names_in(each))]
    items[:] = [each for each in items if each not in left_out]
    config.hook.pytest_deselected(items=left_out)


def _names_in(item: pytest.Item) -> set[str]:
    """Return the parameters of a test as text, and the members of tuples: one of them is its adapter."""
    given = getattr(item, "callspec", item).__dict__.get("params", {}).values()
    return {str(one) for each in given for one in (each if isinstance(each, tuple) else [each])}


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Hand the choice to a process of xdist."""
    if node.config.getoption("--adapters") != ALL:
        from format_bench.conformance import selection

        node.workerinput[TIER] = selection.tier.to_plain()


def pytest_report_header(config: pytest.Config) -> str | None:
    """Return the choice in words."""
    if config.getoption("--adapters") == ALL:
        return None
    from format_bench.conformance import selection

    return f"adapters: {selection.tier.reason}"
