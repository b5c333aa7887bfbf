"""Facts of the libraries that runs within the process of the tests record."""

from __future__ import annotations

import copy
import functools
import sys
from unittest.mock import patch

import pytest

from format_bench.metadata import libraries


@pytest.fixture(scope="session", autouse=True)
def libraries_asked_once():
    """Ask the libraries for their versions once, since a process imports all of them for that."""
    ask = libraries.facts_from_child

    @functools.cache
    def asked(policy, limit_seconds, *_):
        return ask(policy, limit_seconds)

    def facts_from_child(policy, limit_seconds=libraries.CHILD_SECONDS):
        # Again where a test has other libraries, or another interpreter.
        surroundings = (*sys.path, sys.executable, libraries.CHILD)
        return copy.deepcopy(asked(policy, limit_seconds, *surroundings))

    with patch.object(libraries, "facts_from_child", facts_from_child):
        yield
