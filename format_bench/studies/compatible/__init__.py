"""Parts of the compatibility study: its rows, its readers, and the page of features."""
