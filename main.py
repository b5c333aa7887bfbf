"""The command `format-bench`, from a checkout that is not installed."""

from format_bench.cli.main import main

if __name__ == "__main__":
    main()
