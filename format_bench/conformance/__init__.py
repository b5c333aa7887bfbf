"""Conformance kit: tests of the adapters' contract, also for adapters of other packages.

``pytest --pyargs format_bench.conformance --adapter my_package:MyFormat`` tests one adapter, a table
format or an image storage; without ``--adapter`` it tests all that are installed.
"""
