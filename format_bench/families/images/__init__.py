"""Sets of labelled images, and the storages in image_storages."""
