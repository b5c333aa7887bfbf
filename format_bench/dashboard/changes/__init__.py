"""Charts of the changes, and their exports for feed readers and programs."""
