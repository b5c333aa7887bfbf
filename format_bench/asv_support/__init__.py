"""Support of the asv suites, and readers of asv's results."""

# Environment variable with the folder in which the runs of a suite's parts share its data sets; without
# it, each run makes its own.
KEPT_VARIABLE = "FORMAT_BENCH_DATA"
