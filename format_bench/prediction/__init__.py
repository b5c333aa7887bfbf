"""Prediction of sizes and times of a table from measured ones that resemble it.

docs/prediction.md describes the method. `table_profile` has the properties by which tables resemble each
other, `model` the regression with its error, and `predicted` the records that recommendations rank.
"""
