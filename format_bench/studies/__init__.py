"""Studies beside the suites: one module each, the commands of ``format-bench study``.

A new study is a file here: its attribute `command` is a click command, its name the file's name with
hyphens.
"""
