"""Planner of chunk shapes: the store and the chunks that suit a user's own mix of queries.

docs/planning.md describes the method.
"""
