"""Parts that several array stores share."""
