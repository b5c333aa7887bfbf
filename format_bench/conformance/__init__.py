"""What every adapter must do, as tests for any of them, also for one in a package of its author.

``pytest --pyargs format_bench.conformance --adapter my_package:MyFormat`` holds one adapter to the
contract of its family, table formats or image storages; without ``--adapter`` all that are installed.
"""
