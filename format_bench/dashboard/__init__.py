"""The site that asv publishes, with pages of our own: an overview, comparisons, changes, methods.

The overview is the site's index.html: whoever opens the site sees it, without a network and without
scripts from elsewhere. asv's own page, an application that needs both, is called asv.html beside it;
every link to index.html that asv makes leads there.
"""
