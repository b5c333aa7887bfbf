"""Survival of saves: moments at which a writer, the power or the space ends, and the files left then."""
