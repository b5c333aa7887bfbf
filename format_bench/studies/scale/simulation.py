"""Simulation of more workers, from the measured times of tasks."""

from __future__ import annotations

import heapq
from collections.abc import Sequence


def simulated_seconds(  # noqa: PLR0913, PLR0917 (the parameters of a job)
    task_seconds: Sequence[float],
    workers: int,
    tasks: int,
    dispatch_seconds: float,
    client_seconds: float,
    startup_seconds: float = 0.0,
) -> float:
    """Return the wall time of a job on some workers, each of which takes the next task when it is free.

    The client hands out one task after the other. Workers do not disturb each other: disks and networks
    that they share are not in the model.

    Parameters
    ----------
    task_seconds : sequence of float
        Measured times of tasks; repeated in order if the job has more of them.
    workers : int
        Number of workers.
    tasks : int
        Number of tasks of the job.
    dispatch_seconds : float
        Time of the client for each task.
    client_seconds : float
        Time of the client at the end of the job, e.g. the commit.
    startup_seconds : float
        Time of each worker before its first task, e.g. for imports.
    """
    free = [startup_seconds] * workers
    handed_out = 0.0
    for number in range(tasks):
        handed_out += dispatch_seconds
        start = max(heapq.heappop(free), handed_out)
        heapq.heappush(free, start + task_seconds[number % len(task_seconds)])
    return max(free) + client_seconds
