"""Parts that several training loaders share: orders, batches, and loops with worker processes."""
