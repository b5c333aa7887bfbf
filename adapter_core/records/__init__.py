"""Parts that several record stores share."""
