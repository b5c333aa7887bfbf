"""What is charted, out of all that is measured."""

CHARTED = {
    "save time": "Save time",
    "read time": "Read time",
    "random read time per image": "Random read time per image",
    "batch read time per image": "Batch read time per image",
    "save memory": "Save memory growth",
    "read memory": "Read memory growth",
    "size": "Total size",
    "files": "Files",
    "changed images": "Changed images",
}
"""The metrics that have a chart, where they were measured, and its title."""
