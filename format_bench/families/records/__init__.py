"""Records, objects of a program, and the stores in record_stores."""
