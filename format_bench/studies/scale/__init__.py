"""Parts of the studies of scale: measured runs, simulation of more workers, and the page."""
