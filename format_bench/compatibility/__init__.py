"""Files read by others: adapters of other library sets, and programs in other languages."""
