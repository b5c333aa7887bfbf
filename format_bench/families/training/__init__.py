"""Samples to train a model on, and the loaders in training_loaders."""
