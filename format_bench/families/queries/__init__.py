"""Queries to saved tables, and the engines in query_engines that answer them."""
