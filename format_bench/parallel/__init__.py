"""Tables written and read by several worker processes, through an engine such as Dask or Ray."""
