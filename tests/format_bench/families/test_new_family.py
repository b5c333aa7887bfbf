"""A family that is added as one package, with a package of adapters: listed, measured, reported."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.helpers import clone_with

FAMILY = """
[family]
name = "texts"
title = "Texts"
place = 9
item = "line"
adapters = "text_files"
adapter = "text file"
parameter = "file"
user_data = ""
loss = "changed lines"

[[step]]
name = "save"
metrics = ["save time", "size"]

[[step]]
name = "read"
cache = "warm"
metrics = ["read time", "changed lines"]

[[suite]]
name = "text"
title = "Texts"
prefix = "Texts"
qualifier = "texts"
measures = "files of lines of text"
datasets = ["poem"]
sizes = { full = 1_000, quick = 100, tiny = 10 }
run_size = 100
columns = ["save time", "read time", "size"]
version = 1
optional = true

[suite.sampling]
full = { budget_seconds = 1.0 }
quick = { budget_seconds = 0.1 }
tiny = { budget_seconds = 0.1 }

[[suite.benchmarks]]
name = "Text"
metrics = ["save time", "size"]
"""

METRICS = """
[[metric]]
name = "changed lines"
unit = "lines"
noise = "exact"
column = "changed"
benchmark = "track_changed_lines"
operation = "changed lines"
"""

OPERATIONS = '''
"""Operations on lists of lines."""

from format_bench.families.operations import Measured, Operations


class TextOperations(Operations):
    """One kind of text file."""

    @staticmethod
    def datasets():
        return ["poem"]

    @staticmethod
    def describe(dataset):
        return "lines of a poem"

    @staticmethod
    def generate(dataset, size):
        return [f"line {number} of {dataset}" for number in range(size)]

    @staticmethod
    def store(data, path):
        path.write_text("\\n".join(data))
        return len(data), 1

    @staticmethod
    def load(path):
        return path.read_text().split("\\n")

    @staticmethod
    def take(data, positions):
        return [data[each] for each in positions]

    def warm_up(self):
        pass

    def check(self, data):
        pass

    def save(self, data, file):
        self.unchecked.save(data, file)

    def read(self, file):
        return self.adapter.read(file)

    def verify(self, data, found):
        return Measured("changed lines", [sum(a != b for a, b in zip(data, found, strict=True))])


OPERATIONS = TextOperations
'''

REGISTRY = '''
"""Files of lines."""

from pathlib import Path

from adapter_core import Registry

registry = Registry("text_files", Path(__file__).parent, "text file")
'''

ADAPTER = '''
"""Plain text."""

from adapter_core.adapter import BaseAdapter


class Adapter(BaseAdapter):
    """Lines with line feeds between them."""

    label = "plain"
    suffix = ".txt"
    requires = ()

    def save(self, data, path):
        path.write_text("\\n".join(data))

    def read(self, path):
        return path.read_text().split("\\n")
'''

FILES = {
    "format_bench/families/texts/__init__.py": '"""Texts."""\n',
    "format_bench/families/texts/family.toml": FAMILY,
    "format_bench/families/texts/metrics.toml": METRICS,
    "format_bench/families/texts/operations.py": OPERATIONS,
    "text_files/__init__.py": REGISTRY,
    "text_files/plain.py": ADAPTER,
}


@pytest.fixture(scope="module")
def call(tmp_path_factory):
    """Return a function that runs the command in a clone with both packages, for its output."""
    project = clone_with(tmp_path_factory.mktemp("family") / "clone", FILES)

    def run(*arguments: object) -> str:
        command = [sys.executable, "main.py", *map(str, arguments)]
        environment = os.environ | {"PYTHONPATH": str(project)}
        done = subprocess.run(
            command, cwd=project, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def test_a_new_family_is_listed_measured_compared_and_reported(call, tmp_path):
    assert "plain" in call("list")
    call("run", "--suite", "text", "--threads", "1", "--repeats", 1, "--out", tmp_path / "out")
    lines = (tmp_path / "out/results.jsonl").read_text(encoding="utf-8").splitlines()
    found = {each["metric"]: each for each in map(json.loads, lines)}
    assert found.keys() == {"save time", "read time", "size", "changed lines"}
    assert found["size"]["value"] == len("\n".join(f"line {each} of poem" for each in range(100)))
    assert found["changed lines"]["value"] == 0
    assert {each["conditions"]["threads"] for each in found.values()} == {"1"}
    compared = json.loads(call("compare", tmp_path / "out", tmp_path / "out", "--json"))
    assert "plain" in json.dumps(compared)
    call("report", tmp_path / "out", "--out", tmp_path / "report.html")
    assert "plain" in (tmp_path / "report.html").read_text(encoding="utf-8")
