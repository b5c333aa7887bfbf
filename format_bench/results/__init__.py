"""Records of measurements: metrics, files, export."""
