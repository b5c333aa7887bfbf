"""N-d arrays in chunks, and the stores in array_stores."""
