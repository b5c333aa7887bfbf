"""Study of media: trials, results, and estimates for other media."""
