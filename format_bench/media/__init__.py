"""Media: facts and measured figures of the storage of a folder, and emulated media."""
