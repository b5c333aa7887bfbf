"""Clusters of Dask: the connection to one, and the assignment of cells to its workers."""
