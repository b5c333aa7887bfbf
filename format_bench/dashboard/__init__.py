"""The site that asv publishes, with pages of our own: an overview, comparisons, changes, methods.

The overview is the site's index.html: whoever opens the site sees it, with or without scripts. asv's own
page, an application, is called asv.html beside it; every link to index.html that asv makes leads there.
No page needs a network.
"""
