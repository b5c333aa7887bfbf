"""Pages of the site beside the overview, a module each, found by listing this folder.

A module defines ``MENU_ORDER``, its place in the menu, and ``pages(site)``, which yields a `Page`, one
for each family of data, or none where the results do not allow it. Modules whose names start with an
underscore are shared by several.
"""
