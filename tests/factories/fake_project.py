"""Checkout of a toy project that asv measures; its one library is six, which has a version."""

from __future__ import annotations

from pathlib import Path

from tests.helpers import git

SETUP = """
from setuptools import setup

setup(
    name="toy",
    version="1",
    py_modules=["toy"],
    install_requires=["six>=1.10"],
    extras_require={"all": ["cachetools", "tomli-w>=2"], "a": ["cachetools"], "b": ["tomli-w>=2"]},
)
"""
SUITE = """
import six


def track_minor_version():
    return int(six.__version__.split(".")[1])


def track_cachetools():
    try:
        import cachetools
    except ModuleNotFoundError:
        return 0
    return 1


def track_tomli_w():
    try:
        import tomli_w
    except ModuleNotFoundError:
        return 0
    return 1
"""
CONF = """{
    "version": 1,
    "project": "toy",
    "repo": ".",
    "dvcs": "git-with-history",
    "plugins": [".asv_repository"],
    "branches": ["HEAD"],
    "environment_type": "virtualenv",
    // A remark, as asv allows them.
    "matrix": {"env_nobuild": {"FORMAT_BENCH_SCALE": ["full"]}},
    "env_dir": ".asv/env",
    "results_dir": ".asv/full/results",
    "html_dir": ".asv/full/html",
    "build_command": ["python -m pip wheel --quiet --no-deps --wheel-dir {build_cache_dir} {build_dir}"]
}
"""
FILES = {
    "setup.py": SETUP,
    "toy.py": "",
    "constraints.txt": "six==1.17.0\n",
    "asv.conf.json": CONF,
    # The packages of this project are not on asv's path, as they are in a checkout of it.
    "asv_repository.py": "from format_bench.asv_support.repository import GitWithHistory\n",
    "benchmarks/__init__.py": "",
    "benchmarks/toy.py": SUITE,
    "benchmarks/second.py": SUITE,
    ".gitignore": ".asv/\n/.asv.*.json\n*.egg-info/\n__pycache__/\n",
}


def toy_checkout(folder: Path) -> Path:
    """Make the checkout, with one commit, in a new folder, and return it."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    git(folder, "init", "--quiet", "--initial-branch", "main")
    git(folder, "config", "user.name", "a")
    git(folder, "config", "user.email", "a@b")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "All")
    return folder
