"""Tables: pandas DataFrames, and the formats in data_formats."""
