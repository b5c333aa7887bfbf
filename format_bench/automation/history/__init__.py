"""The history of the libraries, measured afterwards: today's benchmarks with the library sets of then.

A branch of its own gets a commit for each date, with the tree of the current commit and the library set
as it stood on that date; asv then measures these commits like any other. docs/history.md describes the
use, docs/decisions/0004-library-sets-of-the-past.md why it is done in this way.
"""
