"""History of the libraries: today's benchmarks, measured with the library sets of earlier days.

A branch of its own gets a commit for each day, with the tree of the current commit and the library set
of that day; asv measures these commits like any other. docs/history.md describes the use,
docs/decisions/0004-library-sets-of-the-past.md the reasons.
"""
