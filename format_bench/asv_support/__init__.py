"""What the asv suites and the tools around asv need."""
