"""Options of pytest for the conformance kit.

A plug-in by entry point, since pytest does not read options from a folder given by ``--pyargs``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


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


def pytest_configure(config: pytest.Config) -> None:
    """Fail early if the name is not an adapter class."""
    name = config.getoption("--adapter")
    if name is not None:
        from format_bench.conformance.selection import load

        load(name)
