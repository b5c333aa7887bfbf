"""Families of data: a package each, with the declaration of its suites and its operations.

family.toml declares the family, the runner's steps and the suites; metrics.toml, if any, metrics of its
own; `operations` has the code. `format_bench.results.suites` reads the declarations.
"""
