"""Three real months: ``python -m tools.check_months FOLDER``, about half an hour and 2 GB.

In the folder it makes a bare remote and a clone of it with few adapters, and calls cron.sh there for
three consecutive months, at tiny scale, with the packages that the index had on those days and asv
itself. Then it calls it once more in a month without news, and prints what the remote holds.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.helpers import clone_with, git, own_home

ADAPTERS = {
    "data_formats": ["csv", "csv_pyarrow", "feather", "parquet"],
    "image_storages": ["png", "sqlite"],
}
BEGINNING = "2026-08-15"
DAYS = ["2026-09-01", "2026-10-15", "2026-11-15"]
"""On each of them, pandas and pyarrow had other versions than on the others."""


def make(folder: Path) -> tuple[Path, Path]:
    """Make the remote, dated before the first month, and the clone on the benchmark server."""
    source, remote, server = folder / "source", folder / "remote.git", folder / "server"
    clone_with(source, {})
    for family, kept in ADAPTERS.items():
        for path in (source / family).glob("[!_]*.py"):
            if path.stem not in kept:
                path.unlink()
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
    """Run cron.sh on a day; return how long it took, in seconds.

    Raises
    ------
    subprocess.CalledProcessError
        If it ends with any status but 0.
    """
    began = time.monotonic()
    variables = {
        "SCALE": "tiny",
        "CRON_DATE": day,
        "CRON_DISK_GB": "5",
        **own_home(server.parent),
        "CRON_NOTIFY": f"cat >> {server.parent}/notified",
    }
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    subprocess.run([server / "cron.sh"], env=kept | variables, check=True)
    return time.monotonic() - began


def points(remote: Path) -> Iterator[tuple[str, int]]:
    """Yield each graph of the site that is published, and how many points it has.

    A graph of asv has a list of values at each commit, one for each case.
    """
    names = git(remote, "ls-tree", "-r", "--name-only", "gh-pages").splitlines()
    for name in names:
        if "/branch-HEAD/" in name and not name.endswith("/summary.json"):
            yield name, len(json.loads(git(remote, "show", f"gh-pages:{name}")))


def versions(remote: Path, commit: str) -> dict[str, str]:
    """Return the versions that a commit's set pins."""
    text = git(remote, "show", f"{commit}:constraints.txt")
    return dict(re.findall(r"^(pandas|pyarrow)==(\S+)", text, flags=re.MULTILINE))


def measured(remote: Path, commit: str) -> dict[str, str]:
    """Return the versions that were imported as a commit was measured."""
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
    """Return how many samples all benchmarks of a commit have."""
    names = git(remote, "ls-tree", "-r", "--name-only", "results").splitlines()
    (name,) = [each for each in names if f"/{commit[:8]}-" in each]
    result = json.loads(git(remote, "show", f"results:{name}"))
    column = result["result_columns"].index("samples")
    cells = [row[column] or [] for row in result["results"].values() if len(row) > column]
    return sum(len(taken or []) for cell in cells for taken in cell)


def check(remote: Path) -> None:
    """Compare what the remote holds with what three months must leave.

    Raises
    ------
    AssertionError
        If anything else is there.
    """
    commits = git(remote, "rev-list", "--reverse", "main").split()[1:]
    months = [day[:7] for day in DAYS]
    assert git(remote, "tag").split() == months
    assert [git(remote, "rev-parse", f"{month}^{{commit}}").strip() for month in months] == commits
    assert git(remote, "diff", "--name-only", "main~3", "main").split() == ["constraints.txt"]
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
    """Run a month in which the resolver finds nothing new.

    Raises
    ------
    AssertionError
        If it leaves a commit, or no samples.
    """
    last = git(remote, "rev-parse", "main").strip()
    before = samples(remote, last)
    os.environ["UV_CONSTRAINT"] = str(server / ".asv/monthly/constraints.txt")
    print(f"a month without news: {run(server, '2026-12-01'):.0f} s")
    assert git(remote, "rev-parse", "main", "2026-12^{commit}").split() == [last, last]
    assert samples(remote, last) > before
    print(f"{before} samples became {samples(remote, last)}")


def main(folder: Path) -> None:
    """Run three months, and one in which nothing has changed."""
    remote, server = make(folder)
    for day in DAYS:
        print(f"{day}: {run(server, day):.0f} s")
    check(remote)
    add_samples(remote, server)


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
