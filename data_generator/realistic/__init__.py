"""Tables with the properties of real ones: made of a `TableSpec`, measured, and described by one."""
