"""The fingerprint of a machine: equal for equal ones, whatever they do at the moment."""

from __future__ import annotations

import copy
import os
import subprocess
import sys

import pytest

from format_bench.metadata.machine import described, fingerprint
from format_bench.metadata.run_metadata import collect
from tests.helpers import ROOT

# Runs in a process of its own, which may use one CPU alone.
ON_ONE_CPU = """
import os, sys
from pathlib import Path
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
from format_bench.metadata import libraries
libraries.facts_from_child = lambda *_: {}
from format_bench.metadata.machine import fingerprint
from format_bench.metadata.run_metadata import collect
print(fingerprint(collect(Path(sys.argv[1]), seed=1, scale="", threads="1")))
"""


@pytest.fixture
def metadata(libraries_unasked, tmp_path):  # noqa: ARG001 (replaces a slow call)
    return collect(tmp_path, seed=1, scale="", threads="1")


def changed(metadata, *path, to):
    found = copy.deepcopy(metadata)
    part = found
    for name in path[:-1]:
        part = part[name]
    part[path[-1]] = to
    return fingerprint(found)


def test_what_changes_from_hour_to_hour_does_not_count(metadata):
    own = fingerprint(metadata)
    assert changed(metadata, "load_average", to={"start": [9, 9, 9], "end": None}) == own
    assert changed(metadata, "memory", "available_bytes", to=1) == own
    assert changed(metadata, "scratch", "free_bytes", to=1) == own
    gib = 2**30
    assert changed(metadata, "memory", "total_bytes", to=8 * gib) == changed(
        metadata, "memory", "total_bytes", to=8 * gib - 4096
    )


@pytest.mark.parametrize(
    "path",
    [
        ("cpu", "model"),
        ("cpu", "usable"),
        ("system", "kernel"),
        ("libraries", "numpy"),
        ("scratch", "file_system"),
    ],
)
def test_hardware_and_libraries_count(metadata, path):
    assert changed(metadata, *path, to="another") != fingerprint(metadata)


def test_the_file_systems_of_compared_media_count_and_their_speed_does_not(metadata):
    ssd = {"file_system": "ext4", "rotational": False, "random_read_seconds": 1e-4}
    own = changed(metadata, "media", to={"a": ssd})
    assert own != fingerprint(metadata)
    assert changed(metadata, "media", to={"a": {**ssd, "random_read_seconds": 2e-4}}) == own
    assert changed(metadata, "media", to={"a": {**ssd, "file_system": "nfs"}}) != own


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one CPU cannot be restricted")
def test_a_process_on_fewer_cpus_is_another_machine(metadata, tmp_path):
    command = [sys.executable, "-c", ON_ONE_CPU, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() not in {"", fingerprint(metadata)}


def test_the_words_name_processor_and_memory(metadata):
    assert f"{metadata['cpu']['usable']} CPUs" in described(metadata)
    assert "GiB" in described(metadata)
