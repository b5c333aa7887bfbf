"""Bare remote, checkout on a benchmark server, and cron.sh with stand-ins for steps that take hours."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.helpers import ROOT, git

STAND_IN = Path(__file__).with_name("cron_stand_in.py")
PYTHON = f"""#!/bin/sh
[ "$2" != format_bench.monthly ] || exec {sys.executable} "$@"
exec {sys.executable} -S {STAND_IN} "$@"
"""
MAKE = f"""
mkdir -p .venv/bin
cat > .venv/bin/python << 'END'
{PYTHON}END
chmod +x .venv/bin/python
exit
"""
PACKAGES = (
    "adapter_core",
    *(f"format_bench/{name}" for name in ("automation", "instruments", "system")),
)
FILES = (
    *("cron.sh", ".gitignore", "format_bench/__init__.py", "format_bench/monthly.py"),
    *("format_bench/asv_support/__init__.py", "format_bench/asv_support/journal.py"),
    *(f"format_bench/results/{name}.py" for name in ("__init__", "status", "suites")),
)
DECLARED = """
[family]
name = "toys"
title = "Toys"
place = 1
item = "row"
adapters = "toys"
adapter = "toy"
parameter = "format"
user_data = "a toy"
loss = "lost toys"

[[step]]
name = "save"
metrics = ["save time"]

[[suite]]
name = "gamma"
title = "Gamma"
prefix = "Gamma"
measures = "toys"
datasets = {datasets}
sizes = {{ full = 1, quick = 1, tiny = 1 }}
run_size = 1
month_hours = {hours}
parts = ["server", "jars"]
columns = ["save time"]
version = 1
sampling = {{ tiny = {{ budget_seconds = 0.1 }} }}

[[suite.benchmarks]]
name = "Gamma"
metrics = ["save time"]
"""
"""A suite of many data sets: each of its formats is expected to take an hour."""
OLD = {f"GIT_{who}_DATE": "2026-01-15T12:00:00+0000" for who in ("AUTHOR", "COMMITTER")}
IDENTITY = {
    f"GIT_{who}_{what}": "someone@example"
    for who in ("AUTHOR", "COMMITTER")
    for what in ("NAME", "EMAIL")
}


class World:
    """One benchmark server and its remote.

    Parameters
    ----------
    folder : Path
        Where all of it is; `make` fills it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.remote = folder / "remote.git"
        self.server = folder / "server"
        self.clone = self.server / ".asv/monthly"
        self.moments = folder / "moments"

    def make(self) -> World:
        """Fill the folder."""
        self.moments.mkdir()
        (self.folder / "tools").mkdir()
        self.tool("make", MAKE)
        self._write_remote()
        git(self.folder, "clone", "--quiet", str(self.remote), str(self.server))
        return self

    def copied(self, folder: Path) -> World:
        """Return a copy of all of it in another folder."""
        shutil.copytree(self.folder, folder, symlinks=True, dirs_exist_ok=True)
        copy = World(folder)
        for checkout in (copy.server, folder / "other"):
            git(checkout, "remote", "set-url", "origin", str(copy.remote))
        return copy

    def _write_remote(self) -> None:
        other = self.folder / "other"
        for package in PACKAGES:
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / package, other / package, ignore=ignored)
        for name in FILES:
            (other / name).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, other / name)
        self.next_set("1.0")
        (other / "constraints.txt").write_text("pyarrow==1.0\n")
        (other / "constraints.lock").write_text("pyarrow==1.0 --hash\n")
        (other / "benchmarks").mkdir()
        for suite in ("alpha", "beta"):
            (other / "benchmarks" / f"{suite}.py").touch()
        git(self.folder, "init", "--quiet", "--bare", "--initial-branch", "main", str(self.remote))
        git(other, "init", "--quiet", "--initial-branch", "main")
        git(other, "remote", "add", "origin", str(self.remote))
        self.push_from_elsewhere("All")

    def declare_gamma(self, hours: float) -> None:
        """Add a declared suite, of the formats A, B and C, that has so many hours a month."""
        other = self.folder / "other"
        (other / "toys").mkdir()
        for name in "abc":
            text = f'class Adapter:\n    label = "{name.upper()}"\n    requires = ()\n'
            (other / "toys" / f"{name}.py").write_text(text)
        declared = other / "format_bench/families/toys/family.toml"
        declared.parent.mkdir(parents=True)
        datasets = [f"set {number}" for number in range(1_800)]
        declared.write_text(DECLARED.format(datasets=datasets, hours=hours))
        (other / "benchmarks/gamma.py").touch()
        self.push_from_elsewhere("Declare a suite")

    def formats_of_gamma(self, tag: str) -> str:
        """Return the formats of the declared suite that have values in a month, e.g. "AB"."""
        commit = git(self.remote, "rev-parse", f"{tag}^{{commit}}").strip()
        names = git(self.remote, "ls-tree", "-r", "--name-only", "results").splitlines()
        (name,) = [each for each in names if f"/{commit[:8]}-" in each]
        result = json.loads(git(self.remote, "show", f"results:{name}"))
        row = dict(zip(result["result_columns"], result["results"]["gamma.time_it"], strict=False))
        values = zip("ABC", row["result"], strict=True)
        return "".join(label for label, value in values if value == value)  # noqa: PLR0124 (not NaN)

    def push_from_elsewhere(self, subject: str, branch: str = "main") -> None:
        """Commit the folder of another developer, and push it."""
        subprocess.run(["bash", "-euc", self.pushing(subject, branch)], check=True)

    def pushing(self, subject: str, branch: str = "main") -> str:
        """Return a script by which another developer commits and pushes."""
        variables = " ".join(f"{name}='{value}'" for name, value in {**OLD, **IDENTITY}.items())
        return (
            f"unset GIT_INDEX_FILE; cd {self.folder}/other; export {variables}; git add --all\n"
            f"git commit --quiet --allow-empty -m '{subject}'; git push --quiet origin HEAD:{branch}\n"
        )

    def next_set(self, version: str) -> None:
        """Let the resolver find that version from now on."""
        (self.folder / "next_set").write_text(f"pyarrow=={version}\n")

    def tool(self, name: str, script: str) -> None:
        """Put a tool before the real one; where the script does not end it, that is called."""
        path = self.folder / "tools" / name
        path.write_text(f'#!/bin/sh\n{script}\nexec {shutil.which(name)} "$@"\n')
        path.chmod(0o755)

    def at(self, moment: str, script: str) -> None:
        """Run a script once, at a moment of the next run."""
        (self.moments / moment).write_text(script)

    def environment(self, day: str) -> dict[str, str]:
        """Return the variables that cron.sh is run with."""
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "CRON_"))
        }
        return kept | {
            "PATH": f"{self.folder / 'tools'}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "SCALE": "tiny",
            "CRON_WORLD": str(self.folder),
            "CRON_DATE": day,
            "CRON_RETRY_SECONDS": "0",
            "CRON_DISK_GB": "0",
            "CRON_MEMORY_GB": "0",
            "CRON_NOTIFY": f"cat >> {self.folder}/notified",
        }

    def run(self, day: str, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run cron.sh on a day."""
        return subprocess.run(
            [self.server / "cron.sh", *options],
            env=self.environment(day) | variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def start(self, day: str) -> subprocess.Popen[bytes]:
        """Start cron.sh in a session of its own, and do not wait for it."""
        with (self.folder / "started.log").open("w") as output:
            return subprocess.Popen(
                [self.server / "cron.sh"],
                env=self.environment(day),
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def run_and_kill(self, day: str, moment: Path) -> None:
        """Run cron.sh, and kill it with all that it has started once a file of that name appears."""
        process = self.start(day)
        wait_for(moment)
        while members := members_of(process.pid):
            for pid in members:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        process.wait()
        # A process whose first thread has ended counts as ended, while its others still hold the lock.
        with (self.server / ".asv/cron.lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)

    def kill_at(self, day: str, moment: str) -> None:
        """Run cron.sh, and kill it at a moment of its run."""
        self.at(moment, f"touch {self.folder}/reached; sleep 60\n")
        self.run_and_kill(day, self.folder / "reached")
        (self.folder / "reached").unlink()

    def results(self) -> dict[str, dict[str, int]]:
        """Return how many samples each suite has on the remote, by month's tag and suite."""
        found = {}
        for tag in git(self.remote, "tag").split():
            commit = git(self.remote, "rev-parse", f"{tag}^{{commit}}").strip()
            names = git(self.remote, "ls-tree", "-r", "--name-only", "results").splitlines()
            (name,) = [each for each in names if f"/{commit[:8]}-" in each]
            result = json.loads(git(self.remote, "show", f"results:{name}"))
            columns = result["result_columns"]
            found[tag] = {
                suite.partition(".")[0]: (values[0][0], len(values[columns.index("samples")][0]))
                for suite, values in result["results"].items()
            }
        return found

    def references(self) -> str:
        """Return all branches and tags of the remote."""
        return git(self.remote, "for-each-ref")

    def commit_of(self, name: str) -> str:
        """Return a commit of the remote."""
        return git(self.remote, "rev-parse", f"{name}^{{commit}}").strip()

    def sent(self) -> bool:
        """Return whether the remote has all that the clone has."""
        kinds = ("refs/heads", "refs/tags")
        return git(self.clone, "for-each-ref", *kinds) == git(self.remote, "for-each-ref", *kinds)

    def log(self, branch: str, *options: str) -> list[str]:
        """Return the subjects of a branch of the remote, newest first."""
        return git(self.remote, "log", "--format=%s", *options, branch).splitlines()

    def notified(self) -> list[str]:
        """Return the lines that were sent to whoever wants to know."""
        return (self.folder / "notified").read_text().splitlines()


def wait_for(path: Path) -> None:
    """Wait until a file is there."""
    for _ in range(600):
        if path.exists():
            return
        time.sleep(0.05)
    raise TimeoutError(path)


def members_of(session: int) -> list[int]:
    """Return the processes of a session that are alive."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            state, _, _, number = path.read_text().rpartition(")")[2].split()[:4]
            if int(number) == session and state != "Z":
                found.append(int(path.parent.name))
    return found
