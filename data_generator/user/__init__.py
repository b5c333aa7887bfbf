"""Users' own tables, images, arrays and records."""
