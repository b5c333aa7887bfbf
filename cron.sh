#!/usr/bin/env bash
# The monthly run on a benchmark server: measure the newest commit at full scale, compare, publish.
# Prints to the terminal and to .asv/cron.log. Needs the right to push the branch gh-pages to origin.
set -euo pipefail
cd "$(dirname "$0")"

for tool in make git flock; do
    command -v "$tool" > /dev/null || { echo "cron.sh: $tool is needed" >&2; exit 2; }
done
mkdir -p .asv
exec 9> .asv/cron.lock
flock --nonblock 9 || { echo "cron.sh: another run holds .asv/cron.lock" >&2; exit 3; }
exec > >(tee -a .asv/cron.log) 2>&1

say() { echo "$(date --utc +%FT%TZ) $*"; }
finish() {
    local status=$?
    [ "$status" -eq 0 ] || say "failed with status $status"
}
trap finish EXIT

say "begin at commit $(git rev-parse HEAD)"
make environment
.venv/bin/asv machine --yes > /dev/null
say "noise floors"
.venv/bin/python -m format_bench.noise --out .asv/full/noise.json
# asv writes results when a whole run ends; suite by suite, a killed run loses one suite at most.
for file in benchmarks/[!_]*.py; do
    suite=$(basename "$file" .py)
    say "suite $suite"
    # Status 2 says that some benchmarks failed; the comparison says which and why.
    .venv/bin/asv run --record-samples --skip-existing-successful --bench "^$suite\." HEAD || [ $? -eq 2 ]
done
.venv/bin/python postprocessing.py
.venv/bin/asv gh-pages
say "published"
