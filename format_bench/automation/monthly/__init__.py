"""Monthly run on a benchmark server; ``python -m format_bench.monthly STEP`` runs a step of it.

cron.sh calls the steps in a clone of its own, which is their working directory:

- `begin` chooses the commit to measure, and renews the library set for it;
- `finish` runs asv's suites on that commit, compares, and publishes;
- `resume` does the same for a month that was interrupted.

A state file records the progress, and the results of each suite are committed as soon as asv has
written them, so every step can be killed at any moment and called again.
"""
