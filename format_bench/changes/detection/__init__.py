"""The change-point detector."""
