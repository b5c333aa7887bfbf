"""Entry point of ``python -m format_bench``, the same as ``format-bench``."""

from format_bench.cli.main import main

if __name__ == "__main__":
    main()
