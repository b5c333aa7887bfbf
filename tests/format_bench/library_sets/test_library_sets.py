"""Library sets: resolved, read, compared and described."""

from __future__ import annotations

import errno
import os
import re
import shutil
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from format_bench.library_sets import (
    ResolutionError,
    VersionChange,
    declared,
    message,
    parse,
    resolution,
    resolve,
    version_changes,
)
from tests.helpers import ROOT

OLD = {"pandas": "2.3.3", "click": "8.1", "lxml": "5.0", "gone": "1.0", "same": "7"}
NEW = {"pandas": "3.0.0", "click": "8.2", "lxml": "6.0", "came": "2.0", "same": "7"}


@pytest.fixture(scope="session")
def index():
    """Skip the test if no package index is in reach."""
    try:
        resolve(["six"], "3.11")
    except ResolutionError as error:
        pytest.skip(f"no package index is in reach: {error}")


def test_pins_that_apply_to_this_python_are_read():
    minor = sys.version_info.minor
    text = f"""
# a remark
--index-url https://example.org
SciPy==1.17.1 ; python_full_version < '3.{minor}'
SciPy==1.18.1 ; python_full_version >= '3.{minor}'  # another remark
google_crc32c==1.8.0
pywin32==312 ; sys_platform == 'beos'
"""
    assert parse(text) == {"google-crc32c": "1.8.0", "scipy": "1.18.1"}


@pytest.mark.parametrize("line", ["pandas>=2", "pandas", "pandas==2,!=3"])
def test_a_line_without_a_pin_is_refused(line):
    with pytest.raises(ValueError, match="does not pin a version"):
        parse(line)


def test_the_set_of_this_checkout_is_read():
    versions = parse((ROOT / "constraints.txt").read_text(encoding="utf-8"))
    assert {"pandas", "pyarrow", "asv"} <= versions.keys()
    assert versions["asv"] == "0.6.6"


def test_the_hashes_are_those_of_this_set():
    """After a change of constraints.txt: `python -m format_bench.library_sets lock`."""
    pins, locked = (
        (ROOT / f"constraints.{each}").read_text(encoding="utf-8") for each in ("txt", "lock")
    )
    entries = re.split(r"\n(?=[a-z0-9])", locked)[1:]
    assert sorted(entry.partition(" \\\n")[0] for entry in entries) == sorted(pins.splitlines()[2:])
    hashed = re.compile(r"[^\n]+(?: \\\n    --hash=sha256:[0-9a-f]{64})+\n?")
    assert [entry for entry in entries if not hashed.fullmatch(entry)] == []


def test_changed_added_and_removed_packages_are_listed():
    assert version_changes(OLD, NEW) == [
        VersionChange("came", None, "2.0"),
        VersionChange("click", "8.1", "8.2"),
        VersionChange("gone", "1.0", None),
        VersionChange("lxml", "5.0", "6.0"),
        VersionChange("pandas", "2.3.3", "3.0.0"),
    ]
    assert version_changes(OLD, OLD) == []


def test_a_message_names_the_libraries_of_formats_first():
    subject, empty, *body = message(version_changes(OLD, NEW), "2026-12").splitlines()
    assert subject == "Renew the library set for 2026-12: pandas 2.3.3 -> 3.0.0, 4 more"
    assert not empty
    # More adapters declare pandas than lxml, and none the others.
    assert body[:2] == ["pandas 2.3.3 -> 3.0.0", "lxml 5.0 -> 6.0"]
    assert body[2:] == ["click 8.1 -> 8.2", "came 2.0 added", "gone 1.0 removed"]


def test_a_subject_has_as_many_steps_as_fit():
    one = [VersionChange("pyarrow", "25.0.0", "26.0.1")]
    assert message(one, "2026-12").startswith(
        "Renew the library set for 2026-12: pyarrow 25.0.0 -> 26.0.1\n\n"
    )
    long = [VersionChange("pyarrow", "25.0.0.dev2026101012", "26.0.1.dev2026121312")]
    assert message(long, "2026-12").startswith("Renew the library set for 2026-12\n\n")


def test_a_reason_is_one_line_without_hints():
    output = (
        "Using CPython 3.11.7\n"
        "error: No solution found when resolving dependencies\n"
        "  cause: Because only duckdb<=0.10.0 is available and you require duckdb>=2, we can\n"
        "         conclude that your requirements are unsatisfiable.\n\n"
        "hint: `duckdb` was filtered by `exclude-newer`.\n"
    )
    assert resolution.resolver_reason(output) == (
        "Because only duckdb<=0.10.0 is available and you require duckdb>=2, we can "
        "conclude that your requirements are unsatisfiable."
    )
    assert resolution.resolver_reason("error: unexpected\n") == "unexpected"
    assert resolution.resolver_reason("") == "the resolver gave no reason"


@pytest.mark.usefixtures("index")
def test_a_set_is_resolved_as_of_a_day():
    then = parse(resolve(["pandas>=2.2", "pyarrow>=15"], "3.11", date(2024, 3, 1)))
    assert (then["pandas"], then["pyarrow"], then["numpy"]) == ("2.2.1", "15.0.0", "1.26.4")


@pytest.mark.usefixtures("index")
def test_the_resolver_gives_a_reason():
    with pytest.raises(ResolutionError, match=r"Because only duckdb<=0\.10\.0 .* unsatisfiable\.$"):
        resolve(["duckdb>=2"], "3.11", date(2024, 3, 1))


@pytest.mark.usefixtures("index")
def test_the_declared_requirements_are_read_from_a_checkout(clone):
    folder = clone({})
    found = declared(folder)
    assert "pyarrow>=15" in found[""]
    assert {"fastavro", "pandas"} <= set(found["avro"])
    assert set(found["avro"]) <= set(found["all"])
    assert "asv==0.6.6" in found["site"]
    assert not any(text.startswith("formatbench") for texts in found.values() for text in texts)


SETUP = """
from setuptools import setup
setup(name="few", version="1", install_requires=["six"], extras_require={"all": ["pytz"]})
"""

RENEW = [sys.executable, "-W", "error", "-m", "format_bench.library_sets", "renew"]


@pytest.fixture
def few(tmp_path):
    """Return a folder whose setup.py declares two packages."""
    (tmp_path / "setup.py").write_text(SETUP, encoding="utf-8")
    return tmp_path


def renew(folder, *options, **environment):
    return subprocess.run(
        [*RENEW, "--constraints", str(folder / "constraints.txt"), *options],
        env={**os.environ, **environment},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.usefixtures("index")
def test_a_set_is_renewed_with_a_message(few):
    file = few / "constraints.txt"
    then = ("--exclude-newer", "2024-03-01")
    done = renew(few, *then, "--dry-run")
    assert done.returncode == 0
    assert not file.exists()
    assert renew(few, *then).stdout == done.stdout
    assert done.stdout.splitlines() == [
        "Renew the library set for 2024-03: pytz 2024.1 added, six 1.16.0 added",
        "",
        "pytz 2024.1 added",
        "six 1.16.0 added",
    ]
    remark, made, *pins = file.read_text(encoding="utf-8").splitlines()
    assert remark == "# The library set under test, every version pinned; made with"
    assert made.startswith("# uv pip compile --universal --python-version 3.")
    assert pins == ["pytz==2024.1", "six==1.16.0"]
    locked = file.with_suffix(".lock")
    lines = locked.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if "==" in line] == [f"{pin} \\" for pin in pins]
    # six 1.16.0 has two files, a wheel and a source archive.
    assert sum("--hash=sha256:" in line for line in lines) == 4
    command = [*RENEW[:-1], "lock", "--constraints", str(file)]
    file.write_text("six==1.16.0\n", encoding="utf-8")
    subprocess.run(command, check=True, cwd=ROOT)
    assert "pytz" not in locked.read_text(encoding="utf-8")


@pytest.mark.usefixtures("index")
def test_a_file_of_another_hash_is_not_installed(tmp_path):
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci/install", tmp_path / ".ci/install")
    lock = (ROOT / "constraints.lock").read_text(encoding="utf-8")
    (name,) = re.findall(r"^iniconfig==\S+", lock, re.MULTILINE)
    target = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "uv", "venv", "--quiet", "--seed", str(target)], check=True)
    for digest, status in (("0" * 64, 1), ("", 0)):
        text = re.sub(rf"(?<=\n{name} \\\n)(?:    --hash.*\n)+", f"    --hash=sha256:{digest}\n", lock)
        (tmp_path / "constraints.lock").write_text(text if digest else lock, encoding="utf-8")
        command = [tmp_path / ".ci/install", target / "bin/python", "iniconfig"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stderr
        assert (f"Hash mismatch for `{name}`" in done.stderr) == bool(digest)


@pytest.mark.usefixtures("index")
def test_an_unchanged_set_is_left_alone(few):
    then = ("--exclude-newer", "2024-03-01")
    text = "# mine\nsix==1.16.0\npytz==2024.1\npywin32==1 ; sys_platform == 'beos'\n"
    (few / "constraints.txt").write_text(text, encoding="utf-8")
    done = renew(few, *then)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "library_sets: no version has changed\n"
    assert (few / "constraints.txt").read_text(encoding="utf-8") == text


@pytest.mark.usefixtures("index")
def test_a_set_that_does_not_resolve_leaves_the_file_as_it_was(few):
    (few / "setup.py").write_text(SETUP.replace("six", "six>=99"), encoding="utf-8")
    (few / "constraints.txt").write_text("six==1.0\n", encoding="utf-8")
    done = renew(few)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Because only six<" in done.stderr
    assert done.stderr.count("\n") == 1
    assert (few / "constraints.txt").read_text(encoding="utf-8") == "six==1.0\n"
    assert not list(few.glob("*.partial*"))


def test_an_index_out_of_reach_is_an_error_in_one_line(few):
    nowhere = {"UV_DEFAULT_INDEX": "http://127.0.0.1:9/simple", "UV_HTTP_RETRIES": "0"}
    done = renew(few, **nowhere, UV_NO_CACHE="1")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("library_sets: the build backend cannot be installed: Failed to fetch")
    assert done.stderr.count("\n") == 1


@pytest.mark.usefixtures("index")
def test_a_setup_that_fails_is_an_error_in_one_line(few):
    (few / "setup.py").write_text("raise SystemError('no such luck')", encoding="utf-8")
    done = renew(few)
    assert (done.returncode, done.stdout) == (2, "")
    assert "the metadata of setup.py cannot be read" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_failed_write_leaves_the_file_as_it_was(few, monkeypatch):
    monkeypatch.setattr(resolution, "resolve", lambda *_: "six==1.17.0\n")
    monkeypatch.setattr(resolution, "lock", lambda *_: None)
    (few / "constraints.txt").write_text("six==1.0\n", encoding="utf-8")

    def fail(self, *_, **__):
        self.touch()
        raise OSError(errno.ENOSPC, "No space left on device", str(self))

    monkeypatch.setattr(Path, "write_text", fail)
    with pytest.raises(OSError, match="No space left"):
        resolution.renew(few / "constraints.txt", {"": ["six"]})
    assert not list(few.glob("*.partial*"))
    assert (few / "constraints.txt").read_text(encoding="utf-8") == "six==1.0\n"
