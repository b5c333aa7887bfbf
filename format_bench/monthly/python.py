"""The interpreter that the clone's packages are installed for."""

from __future__ import annotations

from pathlib import Path

PYTHON = Path(".venv/bin/python")
"""In the clone, which is the working directory."""
