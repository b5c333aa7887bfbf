"""Studies as declarations: a TOML file with a question, claims to judge and tables to show."""
