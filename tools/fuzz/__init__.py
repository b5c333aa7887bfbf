"""Fuzzing of everything that the program reads: users' data, results, states and specifications.

``python -m tools.fuzz --seconds 600`` changes valid files at the level of their formats and of bytes, and
reads each in a process under audit hooks and limits. `tools.fuzz.readers` lists the readers,
`tools.fuzz.oracle` the outcomes.
"""
