"""Charts of a report."""
