"""Race of formats on a user's data, from a first ranking on a sample to a settled one on all rows.

docs/recommendation.md describes the method.
"""
