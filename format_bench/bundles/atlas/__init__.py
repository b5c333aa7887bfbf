"""Atlas: the bundles of many machines as a static site, with the rankings that hold on all of them.

`collection` reads a folder of bundles into columns, `agreement` ranks configurations over machines,
`dependence` explains rankings by facts of machines, and `atlas_pages` writes the site.
"""
