"""An engine and a question that are added as one file each: listed, and asked by the suite."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

ENGINE = '''
"""Toy."""

from __future__ import annotations

import data_formats
from adapter_core.queries.frames import FrameScan


class Adapter(FrameScan):
    """Whole tables, read by the adapter of the format; pyarrow does the rest."""

    label = "toy"
    requires = ("pyarrow>=15",)
    reads = ("Feather", "ORC")
    finished_by = "pyarrow"

    def _format(self, format_label):
        return data_formats.find(format_label)

    def _shape(self, table):
        data_format, path = table
        return data_format.read(path).shape
'''

QUESTION = """
[[question]]
name = "toy-sum"
words = "a sum"
aggregates = ["sum($value)"]
"""

FILES = {
    "query_engines/toy.py": ENGINE,
    "format_bench/families/queries/questions/toy_sum.toml": QUESTION,
}


@pytest.fixture(scope="module")
def call(clone_to, tmp_path_factory):
    """Return a function that runs the command in a clone with the two files, and returns its output."""
    project = clone_to(tmp_path_factory.mktemp("engine") / "clone", FILES)

    def run(*arguments: object) -> str:
        command = [sys.executable, "main.py", *map(str, arguments)]
        environment = os.environ | {"PYTHONPATH": str(project)}
        done = subprocess.run(
            command, cwd=project, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def test_both_are_listed(call):
    found = json.loads(call("list", "--json"))
    formats = {each["name"]: each for each in found["formats"]}
    assert formats["Feather[toy]"]["available"] == formats["ORC[toy]"]["available"] == "yes"
    assert {"name": "toy-sum", "suite": "query", "question": "a sum"} in found["questions"]


def test_the_suite_asks_both(call, tmp_path):
    options = ("--formats", "ORC[toy]", "--track", "defaults", "--rows", 100, "--repeats", 1)
    call("run", "--suite", "query", *options, "--out", tmp_path)
    lines = (tmp_path / "results.jsonl").read_text(encoding="utf-8").splitlines()
    times = [each for each in map(json.loads, lines) if each["metric"] == "query time"]
    answered = {each["query"] for each in times if each["status"] == "value"}
    assert {"count", "point", "group-few", "join", "toy-sum"} <= answered
    assert {each["engine"] for each in times} == {"toy"}
    assert not [each["sentence"] for each in times if each["status"] == "failed"]
