"""Planner of layouts: how to write a table, or an array, for a user's own mix of queries.

docs/planning.md describes the method. `session` fits models, proposes layouts and verifies them; `cells`
measures layouts of a sample by the executor, and keeps records of them. A `Planner` knows a family:
`layouts` tables (with `table_sample` and `layout_cost`), `chunks` arrays (`chunk_search`).
"""
