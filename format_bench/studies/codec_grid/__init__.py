"""Every codec of a format at several levels, side by side."""
