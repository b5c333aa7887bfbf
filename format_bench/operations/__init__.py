"""Operations on each family of data: load, check, save, read, verify."""
