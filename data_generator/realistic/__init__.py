"""Generation of tables with the statistical properties that a `TableSpec` specifies."""
