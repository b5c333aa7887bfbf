"""Pages, feed and files on what changed."""
