"""The instruments on steps of known cost: sleep, CPU, memory, bytes, pages."""

from __future__ import annotations

import functools
import gc
import importlib.util
import os
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from adapter_core import errors
from format_bench.conformance.tables import every_table
from format_bench.instruments import clock, isolation, memory, page_cache
from format_bench.instruments.intervals import median_interval, share_interval
from format_bench.instruments.memory_limit import limit_address_space
from format_bench.instruments.touch import arrays_of, is_mapped, touch, touch_array
from format_bench.results.status import CellStatus

MB = 1_000_000


# --- steps of known cost ---------------------------------------------------------------------------


def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(1_000))


def burn_in_a_child():
    code = f"import time\nwhile time.process_time() < {0.2}: pass"
    subprocess.run([sys.executable, "-S", "-c", code], check=True)


def grow(size):
    # Touched page by page, or the kernel gives none.
    return np.ones(size, np.uint8)


def grow_and_free(size):
    grow(size)


def grow_in_a_child(size):
    code = f"b = bytearray(b'x') * {size}"
    subprocess.run([sys.executable, "-S", "-c", code], check=True)


def repeats_of(step, budget_seconds, setup=None):
    """Return the repeats of a step, each after its preparations."""
    repeats = clock.Repeats(budget_seconds)
    for stopwatch in repeats:
        if setup:
            setup()
        with stopwatch:
            step()
    return repeats


def growth_of(step, *arguments):
    growth, _ = memory.measure(lambda: step(*arguments))
    return growth


# --- time ------------------------------------------------------------------------------------------


def test_a_sleep_is_measured_within_5_percent_and_costs_no_cpu():
    slept = []

    def sleep():
        start = time.perf_counter()
        time.sleep(0.1)
        slept.append(time.perf_counter() - start)

    samples = repeats_of(sleep, 1).samples
    assert min(each.wall_seconds for each in samples) >= 0.1
    # By the step's own clock, since another process may keep a sleeper waiting.
    taken = statistics.median(each.wall_seconds for each in samples)
    assert taken == pytest.approx(statistics.median(slept), rel=0.05)
    assert min(each.cpu_seconds for each in samples) < 0.005


def burnt():
    timing = repeats_of(lambda: burn(0.1), 1)
    return timing.cpu_seconds, [sample.wall_seconds for sample in timing.samples]


def test_100_ms_of_cpu_are_measured_within_5_percent():
    # In a process of its own: CPU time is that of all threads, and other tests may have left some.
    cpu_seconds, wall_seconds = isolation.run(burnt, limit_seconds=60).value
    assert cpu_seconds == pytest.approx(0.1, rel=0.05)
    assert all(each >= 0.099 for each in wall_seconds)


def test_the_cpu_time_of_child_processes_counts():
    sample = clock.time_call(burn_in_a_child)
    assert sample.cpu_seconds >= 0.2


def test_user_and_system_time_are_distinguished():
    def ask_the_kernel():
        # Long calls: short ones can escape the kernel's accounting by ticks.
        with Path("/dev/zero").open("rb", buffering=0) as zeros:
            for _ in range(2_000):
                zeros.read(1 << 20)

    asking, burning = clock.time_call(ask_the_kernel), clock.time_call(lambda: burn(0.3))
    assert asking.sys_seconds > 0.1 * asking.cpu_seconds
    # Below a busy host, time that it takes away may be booked on the kernel.
    assert burning.user_seconds > 0.5 * burning.cpu_seconds


def test_the_reference_loop_runs_beside_calls_and_seldom_beside_short_ones(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(clock.time, "perf_counter", lambda: now[0])
    loop = clock.ReferenceLoop()
    _, first = loop.times()
    now[0] += clock.LOOP_INTERVAL_SECONDS / 2
    assert loop.times()[1] == first
    now[0] += clock.LOOP_INTERVAL_SECONDS
    assert loop.times()[1] != first
    sample = clock.time_call(lambda: None)
    assert 1e-4 < sample.loop_cpu_seconds < 1


def test_the_garbage_collector_is_off_inside_and_back_on_after():
    seen = []
    clock.time_call(lambda: seen.append(gc.isenabled()))
    assert seen == [False]
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError):
        clock.time_call(lambda: 1 / 0)
    assert gc.isenabled()


def repeated(*wall_seconds, budget_seconds=60.0):
    """Return repeats with these wall times, independent of the clock of a busy machine."""
    times = iter(wall_seconds)
    repeats = clock.Repeats(budget_seconds)
    for stopwatch in repeats:
        stopwatch.samples.append(clock.Sample(next(times), user_seconds=0, sys_seconds=0))
    return repeats


@pytest.mark.parametrize(
    ("wall_seconds", "count"),
    [
        ((*[1.0] * 6, 9.0), 5),
        # Six samples have their range as interval, here 4.99 % and 5.01 % wide; nine leave out the ends.
        ((*[1.0] * 4, 0.975, 1.0249, 9.0), 5),
        ((*[1.0] * 4, 0.975, 1.0251, *[1.0] * 9), 8),
        ((1.0, 1.2, *[1.1] * 30), 8),
    ],
)
def test_repeating_stops_as_soon_as_the_interval_of_the_median_is_narrow(wall_seconds, count):
    timing = repeated(*wall_seconds)
    assert timing.stopped == "stable"
    assert len(timing.samples) == count


def test_the_first_call_is_dropped_where_later_ones_suffice():
    assert [each.wall_seconds for each in repeated(9.0, *[1.0] * 12).samples] == [1.0] * 8
    assert [each.wall_seconds for each in repeated(9.0, 1.0, 1.0, budget_seconds=0).samples] == [9, 1, 1]


def test_repeating_stops_when_the_budget_is_spent_but_not_before_the_third():
    naps = iter([0.001, 0.03] * 1000)
    shaky = repeats_of(lambda: time.sleep(next(naps)), 0.3)
    assert shaky.stopped == "budget"
    assert len(repeated(1.0, 2.0, 3.0, 4.0, budget_seconds=0).samples) == clock.MIN_REPEATS


def test_preparations_come_before_each_repeat_and_are_not_timed():
    calls = []

    def prepare():
        calls.append("prepare")
        time.sleep(0.02)

    timing = repeats_of(lambda: calls.append("step"), 0.1, setup=prepare)
    assert calls == ["prepare", "step"] * (len(calls) // 2)
    assert len(timing.samples) == len(calls) // 2 - 1
    assert timing.wall_seconds < 0.01


def test_a_pass_that_times_nothing_is_an_error():
    with pytest.raises(RuntimeError, match="pass 1 of the loop has not timed one block"):
        list(clock.Repeats(budget_seconds=1))


# --- intervals -------------------------------------------------------------------------------------


def test_intervals_are_the_order_statistics_of_the_textbook():
    # Le Boudec, table A.1: for 10 samples ranks 2 and 9 cover with 0.9785, for 20 ranks 6 and 15.
    ten = median_interval([float(i) for i in range(1, 11)])
    assert (ten.low, ten.high) == (2, 9)
    assert ten.confidence == pytest.approx(0.9785, abs=1e-4)
    twenty = median_interval([float(i) for i in range(1, 21)])
    assert (twenty.low, twenty.high) == (6, 15)


def test_few_samples_give_their_range_with_a_low_confidence():
    three = median_interval([3.0, 1.0, 2.0])
    assert (three.low, three.high, three.confidence) == (1, 3, 0.75)
    one = median_interval([5.0])
    assert (one.low, one.high, one.confidence) == (5, 5, 0)
    with pytest.raises(ValueError, match="at least one sample"):
        median_interval([])


def test_intervals_cover_the_median_as_often_as_they_claim():
    draw = random.Random(7)
    covered = 0
    for _ in range(2_000):
        interval = median_interval([draw.lognormvariate(0, 1) for _ in range(15)])
        covered += interval.low <= 1 <= interval.high
    # The claim is 0.965 for 15 samples; four standard deviations of the share below it.
    assert covered / 2_000 > 0.948


# --- memory ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [100 * MB, 30 * MB])
def test_growth_and_held_memory_are_measured_within_5_percent(size):
    freed = isolation.run(growth_of, grow_and_free, size, limit_seconds=60).value
    assert freed.method == "VmHWM"
    assert freed.peak_bytes == pytest.approx(size, rel=0.05)
    assert freed.held_bytes < 0.05 * size
    held = isolation.run(growth_of, grow, size, limit_seconds=60).value
    assert held.held_bytes == pytest.approx(size, rel=0.05)


def test_an_earlier_peak_does_not_count():
    outcome = isolation.run(_growth_after_a_peak, limit_seconds=60).value
    assert outcome.peak_bytes == pytest.approx(40 * MB, rel=0.05)


def _growth_after_a_peak():
    grow(200 * MB)
    return growth_of(grow_and_free, 40 * MB)


def test_only_the_first_block_is_measured():
    first = isolation.run(_growth_of_two_blocks, limit_seconds=60).value
    assert first.peak_bytes == pytest.approx(40 * MB, rel=0.05)
    with pytest.raises(RuntimeError, match="no block has been measured"):
        _ = memory.FirstGrowth().growth


def _growth_of_two_blocks():
    first = memory.FirstGrowth()
    for size in (40 * MB, 200 * MB):
        with first:
            grow(size)
    return first.growth


def test_the_memory_of_child_processes_counts():
    growth = isolation.run(growth_of, grow_in_a_child, 100 * MB, limit_seconds=60).value
    assert 100 * MB <= growth.peak_bytes < 140 * MB


def test_a_kernel_that_refuses_to_reset_the_peak_is_named_in_the_method(monkeypatch):
    monkeypatch.setattr(memory, "reset_peak", lambda: False)
    assert growth_of(grow, MB).method == "ru_maxrss"


# --- page cache ------------------------------------------------------------------------------------

COLUMNS, COLUMN_BYTES = 26, 1024 * 1024


@pytest.fixture
def table_file(tmp_path):
    """Return a file of 26 columns of 1 MiB, cold; skip if the file system keeps files in memory."""
    path = tmp_path / "columns"
    path.write_bytes(os.urandom(COLUMNS * COLUMN_BYTES))
    try:
        page_cache.make_cold(path)
    except errors.NotColdError as reason:
        pytest.skip(str(reason))
    return path


@pytest.mark.usefixtures("table_file")
def test_a_written_file_is_warm_and_cold_after_eviction(tmp_path):
    warm = tmp_path / "warm"
    warm.write_bytes(bytes(10 * MB))
    assert page_cache.resident_share(warm) == 1
    page_cache.make_cold(warm)
    assert page_cache.resident_bytes(warm) == 0


def test_the_bytes_of_three_of_26_columns_are_measured_within_5_percent(table_file):
    before = page_cache.read_counters()
    with table_file.open("rb", buffering=0) as file:
        # Without read-ahead, which is the kernel's and not the reader's.
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        for column in (3, 11, 25):
            os.pread(file.fileno(), COLUMN_BYTES, column * COLUMN_BYTES)
    read = page_cache.read_counters() - before
    assert read.asked_bytes == pytest.approx(3 * COLUMN_BYTES, rel=0.05)
    assert read.fetched_bytes == pytest.approx(3 * COLUMN_BYTES, rel=0.05)
    assert page_cache.resident_share(table_file) == pytest.approx(3 / COLUMNS, rel=0.05)


@pytest.mark.usefixtures("table_file")
def test_all_files_of_a_directory_are_made_cold(tmp_path):
    folder = tmp_path / "many"
    (folder / "deep").mkdir(parents=True)
    for name in ("a", "deep/b", "deep/empty"):
        (folder / name).write_bytes(bytes(0 if name.endswith("empty") else MB))
    assert page_cache.resident_share(folder) == 1
    page_cache.make_cold(folder)
    assert page_cache.resident_share(folder) == 0


def test_a_file_that_stays_in_memory_is_not_called_cold(tmp_path):
    shared = "/dev/shm"
    if not os.access(shared, os.W_OK):
        pytest.skip("there is no memory file system here")
    path = tmp_path / "link"
    real = f"{shared}/format-bench-{os.getpid()}"
    path.symlink_to(real)
    try:
        path.write_bytes(bytes(MB))
        with pytest.raises(errors.NotColdError, match="245 of 245 pages of link stay in the page cache"):
            page_cache.make_cold(path)
    finally:
        Path(real).unlink()


@pytest.mark.usefixtures("table_file")
def test_a_synchronised_file_has_no_dirty_page(tmp_path):
    path = tmp_path / "durable"
    path.write_bytes(bytes(MB))
    page_cache.sync(path)
    with path.open("rb") as file:
        # Eviction without a write first succeeds only if nothing is dirty.
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    assert page_cache.resident_bytes(path) == 0


# --- touching --------------------------------------------------------------------------------------


@pytest.mark.usefixtures("table_file")
def test_touching_reads_a_memory_mapped_table(tmp_path):
    path = tmp_path / "table.arrow"
    table = pa.table({"n": np.arange(MB), "f": np.arange(MB) * 0.5, "s": ["abcdefgh"] * MB})
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    page_cache.make_cold(path)
    mapped = pa.ipc.open_file(pa.memory_map(str(path))).read_all()
    df = mapped.to_pandas(split_blocks=True, zero_copy_only=False)
    untouched = page_cache.resident_share(path)
    touch(df)
    assert untouched < 0.9
    assert page_cache.resident_share(path) > 0.99


@pytest.mark.parametrize("table", every_table())
def test_any_table_can_be_touched_and_stays_as_it_is(table):
    df = every_table()[table]
    pd.testing.assert_frame_equal(touch(df), every_table()[table])


def test_a_column_of_a_block_is_touched_where_it_is(tmp_path):
    path = tmp_path / "block.bin"
    np.zeros((20_000, 8)).tofile(path)
    page_cache.make_cold(path)
    block = np.memmap(path, np.float64, shape=(20_000, 8))
    df = pd.DataFrame(np.asarray(block), copy=False)
    (values,) = arrays_of(df.iloc[:, 3].array)
    assert values.strides == (64,)
    assert np.shares_memory(values, block)
    assert is_mapped(values.__array_interface__["data"][0])
    assert not is_mapped(np.zeros(100).__array_interface__["data"][0])
    touch(df)
    assert page_cache.resident_share(path) > 0.99


def test_an_array_in_a_mapped_file_is_touched_through_its_views(tmp_path):
    path = tmp_path / "array.bin"
    np.zeros(MB).tofile(path)
    page_cache.make_cold(path)
    mapped = np.memmap(path, np.float64)
    part = mapped[: MB // 2].reshape(2, -1).view(np.ndarray)
    assert page_cache.resident_share(path) < 0.9
    touch_array(part)
    assert page_cache.resident_share(path) > 0.45


# --- isolation -------------------------------------------------------------------------------------


def crash():
    import ctypes

    ctypes.string_at(0)


def kill_itself():
    os.kill(os.getpid(), 9)


def hang(pid_file):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    pid_file.write_text(f"{child.pid}")
    time.sleep(600)


def eat():
    return [np.ones(100 * MB, np.uint8) for _ in range(1_000)]


def fill_the_disk(path):
    with path.open("wb") as file:
        file.write(b"half")
        raise OSError(28, "No space left on device")


@pytest.mark.parametrize("module", isolation.PRELOADED)
def test_the_preloaded_modules_exist(module):
    # The fork server ignores modules that it cannot import.
    assert module in sys.modules or importlib.util.find_spec(module)


def test_a_step_that_returns_has_its_value():
    assert isolation.run(divmod, 17, 5, limit_seconds=60) == isolation.Outcome((3, 2))


def timed_in_its_process(seconds):
    return clock.time_call(lambda: time.sleep(seconds)).wall_seconds


def timed_in_a_process_of_its_own(seconds):
    return isolation.run(timed_in_its_process, seconds, limit_seconds=60).value


@pytest.mark.parametrize("step", [timed_in_its_process, timed_in_a_process_of_its_own])
def test_what_a_process_has_timed_is_on_the_clock_of_the_run(step):
    before = clock.ON_CLOCK.seconds
    taken = isolation.run(step, 0.05, limit_seconds=60).value
    assert clock.ON_CLOCK.seconds - before == pytest.approx(taken)


def test_what_a_step_prints_stays_out_of_the_output():
    assert isolation.run(os.path.sameopenfile, 1, 2, limit_seconds=60).value


@pytest.mark.parametrize(
    ("step", "sentence"),
    [
        (crash, "its process crashed (SIGSEGV)"),
        (kill_itself, "its process was killed (SIGKILL), as the kernel does when memory runs out"),
        (sys.exit, "SystemExit: "),
    ],
)
def test_a_step_that_dies_costs_itself_alone(step, sentence):
    outcome = isolation.run(step, limit_seconds=60)
    assert (outcome.status, outcome.sentence.strip()) == (CellStatus.FAILED, sentence.strip())


def test_a_step_that_eats_memory_is_stopped():
    outcome = isolation.run(
        eat, limit_seconds=60, entered=functools.partial(limit_address_space, 2_000 * MB)
    )
    assert outcome.status is CellStatus.FAILED
    assert "MemoryError" in outcome.sentence


def test_a_full_disk_is_reported(tmp_path):
    outcome = isolation.run(fill_the_disk, tmp_path / "file", limit_seconds=60)
    assert outcome.sentence == "OSError: [Errno 28] No space left on device"


def test_a_step_that_hangs_is_killed_with_all_that_it_started(tmp_path):
    start = time.monotonic()
    outcome = isolation.run(hang, tmp_path / "pid", limit_seconds=5)
    assert outcome == isolation.Outcome(None, CellStatus.TIMED_OUT, "not finished after 5 seconds")
    assert time.monotonic() - start < 30
    state = Path(f"/proc/{(tmp_path / 'pid').read_text()}/stat")
    deadline = time.monotonic() + 10
    # A killed process is gone, or a zombie until its new parent has asked for it.
    while state.exists() and state.read_text().split()[2] != "Z":
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_environment_variables_are_set_in_the_child_alone():
    outcome = isolation.run(
        os.getenv, "FORMAT_BENCH_TEST", limit_seconds=60, environment={"FORMAT_BENCH_TEST": "1"}
    )
    assert outcome.value == "1"
    assert "FORMAT_BENCH_TEST" not in os.environ


@pytest.mark.parametrize(
    ("count", "trials", "low", "high"),
    [
        # Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_the_interval_of_a_share_is_the_published_one(count, trials, low, high):
    assert share_interval(count, trials) == pytest.approx((low, high), abs=6e-5)
    mirrored = share_interval(trials - count, trials)
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=6e-5)


@pytest.mark.parametrize(("count", "trials"), [(0, 0), (-1, 5), (6, 5)])
def test_counts_that_are_no_share_have_no_interval(count, trials):
    with pytest.raises(ValueError, match="is no share"):
        share_interval(count, trials)
