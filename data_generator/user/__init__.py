"""Users' own tables and images."""
