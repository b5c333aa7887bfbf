"""Questions, one subject per file: a constant `QUESTIONS`, and `PLACE`, which orders the files."""
