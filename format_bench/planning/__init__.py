"""Planner of chunk shapes: the store and the chunks that suit a user's own mix of queries.

docs/planning.md describes the method. `cells` measures layouts of a sample by the executor, and keeps
records of them; `cost_model` and `chunk_search` know that a layout is a shape of chunks, and a plan for
data of another family would have others of these two; `session` brings both together.
"""
