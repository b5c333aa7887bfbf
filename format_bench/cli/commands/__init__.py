"""The commands of `format-bench`, one file each; a file's `command` is the command of its name."""
