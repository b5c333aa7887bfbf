"""Command of the monthly run: ``python -m format_bench.monthly STEP``.

cron.sh calls this address, and may be older or newer than the clone that it works in; it never moves.
"""

from format_bench.automation.monthly.command import main

if __name__ == "__main__":
    main()
