"""Stands in for what costs hours in a monthly run: the packages, the resolver, asv's measuring.

The stand-in of make writes .venv/bin/python so that it calls this file, which answers for
``-m format_bench.library_sets``, ``-m venv``, ``-m pip``, ``-m asv`` and postprocessing.py. The monthly
run itself is the real one. The folder that `CRON_WORLD` names holds the next library set, and scripts
that run once, at the moment that they are named after.
"""

from __future__ import annotations

import json
import math
import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path

WORLD = Path(os.environ["CRON_WORLD"])
MACHINE = dict.fromkeys(("os", "arch", "cpu", "num_cpu", "ram"), "") | {"machine": platform.node()}
CONSTRAINTS = Path("constraints.txt")


def happen(moment: str) -> None:
    """Run the script of a moment, once."""
    script = WORLD / "moments" / moment
    if script.exists():
        running = script.rename(script.with_name(f"{moment}.happened"))
        subprocess.run(["bash", "-eu", running], check=True)


def renew() -> None:
    happen("renew")
    new = (WORLD / "next_set").read_text()
    if "unresolvable" in new:
        sys.exit("library_sets: because unresolvable 1.0 depends on nothing there is")
    old = CONSTRAINTS.read_text()
    if new != old:
        CONSTRAINTS.write_text(new)
        CONSTRAINTS.with_suffix(".lock").write_text(f"{new} --hash\n")
        print(f"Renew the library set: {old.strip()} -> {new.strip()}")


def install() -> None:
    happen("install")
    if "broken" in CONSTRAINTS.read_text():
        sys.exit("ERROR: No matching distribution found for broken")


def run(options: list[str]) -> None:
    """Write two samples of a benchmark, whose value is the version in the commit's set."""
    chosen = options[options.index("--bench") + 1]
    suite = re.findall(r"\w+", chosen)[0]
    found = re.search(r"\('\((.+)\)'", chosen)
    labels = found[1].split("|") if found else []
    commit = options[-1].removesuffix("^!")
    folder = Path(".asv", os.environ["SCALE"], "results")
    happen(" ".join(["run", suite, *labels]))
    if (WORLD / f"broken_{suite}").exists():
        sys.exit(1)
    path = folder / MACHINE["machine"] / f"{commit[:8]}-env.json"
    results = json.loads(path.read_text()) if path.exists() else empty(commit)
    columns = results["result_columns"]
    old = dict(zip(columns, results["results"].get(f"{suite}.time_it", []), strict=False))
    if old and "--skip-existing-successful" in options:
        return
    version = float(git("show", f"{commit}:constraints.txt").partition("==")[2])
    known = sorted(path.stem.upper() for path in Path("toys").glob("*.py")) if labels else ["a", "b"]
    cut = set(labels) & set((WORLD / "cut_short").read_text()) if (WORLD / "cut_short").exists() else ()
    values, taken = old.get("result", [math.nan] * len(known)), old.get("samples", [None] * len(known))
    for place, label in enumerate(known):
        if label in labels or not labels:
            values[place] = math.nan if label in cut else version
            earlier = taken[place] or [] if "--append-samples" in options else []
            taken[place] = [*earlier, version, version]
    now = int(time.time() * 1000)
    row = {"result": values, "params": [[repr(each) for each in known]], "version": "1"}
    row |= {"started_at": now, "duration": 1, "samples": taken}
    results["results"][f"{suite}.time_it"] = [row.get(name) for name in columns]
    write(path, json.dumps(results))
    write(path.with_name("machine.json"), json.dumps({"version": 1, **MACHINE}))
    notes = folder / "reasons" / "env.jsonl"
    sentence = "not measured: the suite's hours were spent" if cut else "it works"
    note = {"suite": suite, "params": [*cut], "status": "unavailable", "sentence": sentence}
    note |= {"commit": commit, "time": time.time()}
    write(notes, (notes.read_text() if notes.exists() else "") + json.dumps(note) + "\n")
    happen(" ".join(["saved", suite, *labels]))


def empty(commit: str) -> dict:
    """Return results of asv without any; its own code reads them in the run."""
    columns = ["result", "params", "version", "started_at", "duration", "samples"]
    texts = {"commit_hash": commit, "env_name": "env", "python": "3"}
    tables = {"params": MACHINE, "requirements": {}, "env_vars": {}, "results": {}, "durations": {}}
    return {"version": 2, "date": 0, "result_columns": columns, **texts, **tables}


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def site() -> None:
    """Commit a page that lists the results, as asv's plug-in commits the site."""
    happen("site")
    scale = os.environ["SCALE"]
    names = sorted(path.name for path in Path(".asv", scale, "results").glob("*/*-env.json"))
    page = git("hash-object", "-w", "--stdin", text="\n".join(names))
    tree = git("mktree", text=f"100644 blob {page}\tindex.html\n")
    old = git("for-each-ref", "--format=%(objectname)", "refs/heads/gh-pages")
    parent = ["-p", old] if old else []
    git("update-ref", "refs/heads/gh-pages", git("commit-tree", tree, *parent, "-m", "Site"))


def git(*arguments, text=None):
    command = ["git", *arguments]
    return subprocess.run(
        command, input=text, text=True, check=True, stdout=subprocess.PIPE
    ).stdout.strip()


def main(arguments: list[str]) -> None:
    match arguments:
        case ["-m", "format_bench.library_sets", "renew", *_]:
            renew()
        case ["-m", "venv", place]:
            target = Path(place, "bin", "python")
            target.parent.mkdir(parents=True)
            target.symlink_to(Path(".venv/bin/python").absolute())
        case ["-m", "pip", "install", *_]:
            install()
        case ["-m", "format_bench", "build", part, "--optional"]:
            happen(f"build {part}")
        case ["-m", "asv", "machine", *_]:
            happen("describe")
            known = {"version": 1, MACHINE["machine"]: MACHINE}
            Path("~/.asv-machine.json").expanduser().write_text(json.dumps(known))
        case ["-m", "asv", "run", *options]:
            run(options)
        case ["-m", "asv", "gh-pages", "--no-push", *_]:
            site()
        case ["postprocessing.py", *_]:
            happen("comparison")
        case _:
            sys.exit(f"nothing stands in for {arguments}")


if __name__ == "__main__":
    main(sys.argv[1:])
