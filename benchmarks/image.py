"""Images: saving, reading, random access, size, files, memory and what changes, for every storage.

asv goes by name, so these classes run in this order: `Image` saves, and its files serve the others.
"""

import statistics

from format_bench.asv_support import images
from format_bench.asv_support.images import ImageCell, load, prepare_images
from format_bench.asv_support.steps import READ_MEMORY, SAVE_MEMORY, refuse_wrong, set_page_cache
from format_bench.instruments import page_cache
from format_bench.operations import random_access

from ._parameters import IMAGES, LIMIT_SECONDS, SCALE, labels

BUDGET_SECONDS = 3.0 if SCALE == "full" else 0.05
"""How long one go of random reads may take."""


class _Suite:
    params = (labels("image_storages"), list(IMAGES))
    param_names = ("storage", "dataset")
    # Values of one scale never continue the line of another.
    version = f"1 {SCALE}"
    timeout = LIMIT_SECONDS + 30
    number = 1
    warmup_time = 0
    repeat = (1, 5, 20.0) if SCALE == "full" else (1, 3, 0.5)
    min_run_count = 1
    rounds = 2 if SCALE == "full" else 1

    def setup_cache(self):
        prepare_images(IMAGES, "image", SCALE)

    setup_cache.timeout = 1800

    def begin(self, *params):
        self.cell = ImageCell(f"image.{type(self).__name__}", params, SCALE, LIMIT_SECONDS)
        self.adapter = self.cell.start("image.Image")

    def teardown(self, *params):
        self.cell.end()


class Image(_Suite):
    """Saving a set of images to a file or folder that does not exist yet."""

    path = None

    def setup(self, *params):
        self.begin(*params)
        self.cell.check(self.adapter)
        self.images, self.labels = load(self.cell.dataset)
        self.path = self.cell.path(self.adapter, "new")
        self.adapter.remove(self.path)
        self.meter = images.SaveMeter(self.cell)

    def teardown(self, *params):
        self.cell.end()
        if self.path:  # else setup skipped the cell
            self.meter.note(self.path)
            self.cell.keep(self.adapter, self.path)

    def time_save(self, *params):
        self.adapter.save(self.images, self.labels, self.path)

    def track_save_memory(self, *params):
        return int(self.cell.noted(SAVE_MEMORY, lambda: self.save_once(*params)))

    def save_once(self, *params):
        self.time_save(*params)
        self.meter.note(self.path)

    def track_size(self, *params):
        return self.adapter.size_bytes(self.cell.saved(self.adapter))

    def track_files(self, *params):
        return len(list(page_cache.files_of(self.cell.saved(self.adapter))))

    time_save.pretty_name = "Images: save time"
    track_save_memory.pretty_name = "Images: save memory growth"
    track_save_memory.unit = "bytes"
    track_size.pretty_name = "Images: size"
    track_size.unit = "bytes"
    track_files.pretty_name = "Images: files"
    track_files.unit = "files"


class ImageLoad(_Suite):
    """What `Image` saved, read once: its memory, and what has changed; and opened for random access."""

    def setup(self, *params):
        self.begin(*params)
        self.path = self.cell.saved(self.adapter)

    def track_read_memory(self, *params):
        return int(self.cell.noted(READ_MEMORY, self.read_once))

    def read_once(self):
        images.read(self.cell, self.adapter, self.path)

    def track_changed_images(self, *params):
        return images.changed_images(self.cell, self.adapter, self.path)

    def track_open_time(self, *params):
        return statistics.median(random_access.open_seconds(self.adapter, self.path))

    track_open_time.pretty_name = "Images: open time"
    track_open_time.unit = "seconds"
    track_read_memory.pretty_name = "Images: read memory growth"
    track_read_memory.unit = "bytes"
    track_changed_images.pretty_name = "Images: changed images"
    track_changed_images.unit = "images"


class _FromCache(_Suite):
    """What `Image` saved, with its files in the page cache or proven out of it."""

    params = (*_Suite.params, ["warm", "cold"])
    param_names = (*_Suite.param_names, "cache")

    def setup(self, *params):
        self.begin(*params)
        refuse_wrong(self.cell)
        self.path = self.cell.saved(self.adapter)
        set_page_cache(self.cell, self.path, self.cell.params[2])


class ImageRandom(_FromCache):
    """Random access to what `Image` saved, seconds per image; from the page cache, or not."""

    def track_random_read(self, *params):
        return self.seconds_per_image(1)

    def track_batch_read(self, *params):
        return self.seconds_per_image(random_access.BATCH)

    def seconds_per_image(self, size):
        cache = self.cell.params[2]
        return statistics.median(
            random_access.seconds_per_image(
                self.adapter, self.path, cache=cache, size=size, budget_seconds=BUDGET_SECONDS
            )
        )

    track_random_read.pretty_name = "Images: random read time per image"
    track_random_read.unit = "seconds"
    track_batch_read.pretty_name = "Images: batch read time per image"
    track_batch_read.unit = "seconds"


class ImageRead(_FromCache):
    """Reading all of what `Image` saved, with its files in the page cache or proven out of it."""

    def time_read(self, *params):
        self.adapter.read(self.path)

    time_read.pretty_name = "Images: read time"
