"""Codec grid: its cases, tables and picture, for the study `codecs`."""
