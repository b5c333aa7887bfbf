"""Changed record types: records of an older type, read by programs with a newer one."""
