"""A turn of the thesis' program, with that program's Python and libraries, for `tools.original_code`.

``original_turn.py CHECKOUT table FILE ROWS`` pickles its table `eq`. ``original_turn.py CHECKOUT CLASS
FILE`` saves and reads that table by one of its formats, and prints the seconds as JSON. As in the
program, saving and reading have a forked process each. A second call, which no longer imports anything,
is timed as well if the first one was short.

It imports no part of this project, which needs a newer Python.
"""

import json
import multiprocessing
import os
import pickle
import platform
import random
import sys
import time
from importlib import import_module
from pathlib import Path

# Imports take up to a second, which hardly counts beside this.
LONG_SECONDS = 10.0

SEED = 1


def make_table(file, rows):
    import numpy as np

    random.seed(SEED)
    np.random.seed(SEED)  # noqa: NPY002 (what the program draws from)
    generator = import_module("data_generator").Generator()
    table = generator.gen_dataset("eq", rows, 2, 2, 2, 2, 0, 0).df
    file.write_bytes(pickle.dumps(table, protocol=5))


def seconds_of(call):
    cpu, wall = time.process_time(), time.perf_counter()
    call()
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


def call_twice(call, prepare, queue):
    first = seconds_of(call)
    if first["wall"] > LONG_SECONDS:
        queue.put([first])
        return
    prepare()
    queue.put([first, seconds_of(call)])


def in_process(call, prepare):
    queue = multiprocessing.Queue()
    process = multiprocessing.Process(target=call_twice, args=(call, prepare, queue))
    process.start()
    # Emptied before the wait for the end, since the child waits until its answer is taken.
    while process.is_alive() and queue.empty():
        time.sleep(0.05)
    process.join()
    if process.exitcode:
        sys.exit(f"the process ended with {process.exitcode}")
    return queue.get()


def measure(name, file):
    from_program = getattr(import_module("data_formats"), name)()
    table = pickle.loads(file.read_bytes())
    Path("tmp").mkdir(exist_ok=True)
    saved = in_process(lambda: from_program.save(table), from_program.remove)
    size = from_program.size()
    read = in_process(from_program.read, lambda: None)
    from_program.remove()
    return {"save": saved, "read": read, "size": size}


def versions():
    from importlib.metadata import version

    found = {name: version(name) for name in ("pandas", "pyarrow", "pylance")}
    return {**found, "Python": platform.python_version()}


def main():
    checkout, name, file, *rows = sys.argv[1:]
    # In place of this file's folder, whose modules may have the same names as the program's.
    sys.path[0] = os.path.abspath(checkout)  # noqa: PTH100 (as a text, which sys.path takes)
    if name == "table":
        make_table(Path(file), int(rows[0]))
        print(json.dumps(versions()))
    else:
        print(json.dumps(measure(name, Path(file))))


if __name__ == "__main__":
    main()
