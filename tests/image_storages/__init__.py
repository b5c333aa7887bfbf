"""Tests of image storages beside the contract's."""
