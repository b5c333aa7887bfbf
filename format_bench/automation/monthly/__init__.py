"""The monthly run on a benchmark server, as cron.sh calls it.

``python -m format_bench.automation.monthly STEP`` is a step of it.

It works in a clone of its own, which is its working directory:

- `begin` chooses the commit that the month measures, and renews the library set for it;
- `finish` runs asv's suites on that commit, compares, and publishes.

What is under way is noted in a state file and every suite's results are committed as soon as asv has
written them, so `finish` can be killed at any moment and called again.
"""
