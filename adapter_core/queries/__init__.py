"""Code that several query engines share: SQL databases, scans, and finishing in Arrow."""
