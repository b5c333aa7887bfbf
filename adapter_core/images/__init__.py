"""Parts that several image storages share."""
