"""Support of the asv suites, and readers of asv's results."""
