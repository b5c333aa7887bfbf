"""The option of pytest that names an adapter.

A plug-in by entry point, since pytest reads no option from a folder that is named by ``--pyargs``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption(
        "--adapter",
        metavar="MODULE:CLASS",
        help="the adapter that format_bench.conformance tests, as in my_package:MyFormat; "
        "by default all that are installed",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse at once what is no adapter."""
    name = config.getoption("--adapter")
    if name is not None:
        from format_bench.conformance.chosen import load

        load(name)
