"""Tables and arrays that worker processes write and read, through an engine such as Dask or Ray."""
