"""Plain loops over the storages, stores and formats of other families; adapters.toml lists them."""
