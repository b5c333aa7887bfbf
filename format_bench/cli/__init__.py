"""The command `format-bench`: one module per command."""
