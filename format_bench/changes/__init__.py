"""What changed from one library set to the next, and which library did it."""
