"""Rehearsal of three real monthly runs: ``python -m tools.check_months FOLDER``.

Creates in the folder a bare remote and a clone of it with few adapters, and calls cron.sh there for
three consecutive months, at tiny scale, with asv itself and the packages that the index had on those
days. Then calls it once more in a month without new versions, and prints the months, their commits and
graphs. Takes about half an hour and 2 GB.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from adapter_core.listing import TABLE_NAME
from tests.helpers import cloned_checkout, git, own_home

ADAPTERS = {
    "data_formats": ["csv", "csv_pyarrow", "feather", "parquet"],
    "array_stores": ["npy"],
    "image_storages": ["png", "sqlite"],
    "record_stores": ["json"],
    "training_loaders": ["files"],
}
BEGINNING = "2026-08-15"
DAYS = ["2026-09-01", "2026-10-15", "2026-11-15"]
"""Days with different versions of pandas and pyarrow."""


def make(folder: Path) -> tuple[Path, Path]:
    """Create the remote, dated before the first month, and the clone on the benchmark server."""
    source, remote, server = folder / "source", folder / "remote.git", folder / "server"
    cloned_checkout(source)
    for family, kept in ADAPTERS.items():
        for path in (source / family).glob("[!_]*.py"):
            if path.stem not in kept:
                path.unlink()
        for path in (source / family).glob(f"*/{TABLE_NAME}"):
            path.unlink()
    # The run does not need these extras, and all declared packages would be resolved.
    setup = source / "setup.py"
    text = setup.read_text(encoding="utf-8")
    text = re.sub(r'"images": \[.*?\]', '"images": []', text, flags=re.DOTALL)
    text = re.sub(r'"test": \[.*?\n        \]', '"test": []', text, flags=re.DOTALL)
    setup.write_text(text, encoding="utf-8")
    renew = ["-m", "format_bench.library_sets", "renew", "--exclude-newer", BEGINNING]
    subprocess.run([sys.executable, *renew], cwd=source, check=True)
    dated = {f"GIT_{who}_DATE": f"{BEGINNING}T12:00:00+0000" for who in ("AUTHOR", "COMMITTER")}
    amend = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--all", "--amend"]
    subprocess.run(
        [*amend, "--no-edit", f"--date={BEGINNING}T12:00:00"],
        cwd=source,
        env={**os.environ, **dated},
        check=True,
    )
    git(folder, "clone", "--quiet", "--bare", str(source), str(remote))
    git(folder, "clone", "--quiet", str(remote), str(server))
    return remote, server


def run(server: Path, day: str) -> float:
    """Run cron.sh on a day; return its duration in seconds.

    Raises
    ------
    subprocess.CalledProcessError
        If its exit status is not 0.
    """
    start = time.monotonic()
    variables = {
        "SCALE": "tiny",
        "CRON_DATE": day,
        "CRON_DISK_GB": "5",
        **own_home(server.parent),
        "CRON_NOTIFY": f"cat >> {server.parent}/notified",
    }
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    subprocess.run([server / "cron.sh"], env=kept | variables, check=True)
    return time.monotonic() - start


def points(remote: Path) -> Iterator[tuple[str, int]]:
    """Yield each graph of the published site, and its number of points.

    A graph of asv has at each commit a list of values, one for each case.
    """
    names = git(remote, "ls-tree", "-r", "--name-only", "gh-pages").splitlines()
    for name in names:
        if "/branch-HEAD/" in name and not name.endswith("/summary.json"):
            yield name, len(json.loads(git(remote, "show", f"gh-pages:{name}")))


def versions(remote: Path, commit: str) -> dict[str, str]:
    """Return the versions that the library set of a commit pins."""
    text = git(remote, "show", f"{commit}:constraints.txt")
    return dict(re.findall(r"^(pandas|pyarrow)==(\S+)", text, flags=re.MULTILINE))


def measured(remote: Path, commit: str) -> dict[str, str]:
    """Return the versions that were imported when a commit was measured."""
    names = git(remote, "ls-tree", "-r", "--name-only", "results").splitlines()
    lines = [
        json.loads(line)
        for name in names
        if name.endswith(".jsonl") and "/circumstances/" in name
        for line in git(remote, "show", f"results:{name}").splitlines()
    ]
    (found,) = {
        json.dumps({name: each["libraries"][name] for name in ("pandas", "pyarrow")})
        for each in lines
        if each["asv_commit"] == commit
    }
    return json.loads(found)


def samples(remote: Path, commit: str) -> int:
    """Return the number of samples of all benchmarks of a commit."""
    names = git(remote, "ls-tree", "-r", "--name-only", "results").splitlines()
    (name,) = [each for each in names if f"/{commit[:8]}-" in each]
    result = json.loads(git(remote, "show", f"results:{name}"))
    column = result["result_columns"].index("samples")
    cells = [row[column] or [] for row in result["results"].values() if len(row) > column]
    return sum(len(taken or []) for cell in cells for taken in cell)


def check(remote: Path) -> None:
    """Check tags, commits, library sets and graphs of three months on the remote.

    Raises
    ------
    AssertionError
        If one is missing or different.
    """
    commits = git(remote, "rev-list", "--reverse", "main").split()[1:]
    months = [day[:7] for day in DAYS]
    assert git(remote, "tag").split() == months
    assert [git(remote, "rev-parse", f"{month}^{{commit}}").strip() for month in months] == commits
    assert git(remote, "diff", "--name-only", "main~3", "main").split() == [
        "constraints.lock",
        "constraints.txt",
    ]
    sets = [versions(remote, commit) for commit in commits]
    assert len({each["pandas"] for each in sets}) == len({each["pyarrow"] for each in sets}) == 3
    assert [measured(remote, commit) for commit in commits] == sets
    found = dict(points(remote))
    assert found
    assert set(found.values()) == {3}, found
    for commit, month, pinned in zip(commits, months, sets, strict=True):
        print(month, commit[:8], pinned, f"{samples(remote, commit)} samples")
    print(f"{len(found)} graphs of three points each")


def add_samples(remote: Path, server: Path) -> None:
    """Run a month without new versions, which adds samples to the last month.

    Raises
    ------
    AssertionError
        If it adds a commit, or no samples.
    """
    last = git(remote, "rev-parse", "main").strip()
    before = samples(remote, last)
    os.environ["UV_CONSTRAINT"] = str(server / ".asv/monthly/constraints.txt")
    print(f"a month without new versions: {run(server, '2026-12-01'):.0f} s")
    assert git(remote, "rev-parse", "main", "2026-12^{commit}").split() == [last, last]
    assert samples(remote, last) > before
    print(f"{before} samples became {samples(remote, last)}")


def main() -> None:
    """Run three months with new versions, and one without."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("folder", type=lambda text: Path(text).absolute(), metavar="FOLDER")
    remote, server = make(parser.parse_args().folder)
    for day in DAYS:
        print(f"{day}: {run(server, day):.0f} s")
    check(remote)
    add_samples(remote, server)


if __name__ == "__main__":
    main()
