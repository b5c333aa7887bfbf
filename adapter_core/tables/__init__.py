"""Parts that several table formats share, by library."""
