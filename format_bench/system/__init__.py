"""The operating system: git, files, locks."""
