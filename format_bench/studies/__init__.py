"""Studies beside the suites, each a command of its own."""
