"""Jobs with a name in Spark's pages, a bar on the driver, and an end at Ctrl-C."""

from __future__ import annotations

import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .._progress import Tell, teller

PATIENCE = 0.2
"""Seconds between two looks at a job."""

_PROPERTIES = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")


@contextmanager
def followed(session: Any, what: str, count: int | None, progress: Any) -> Iterator[None]:
    """Names the jobs that follow, tells how they get on, and cancels them if we are interrupted.

    Spark Connect has no context on the driver: its jobs go without.
    """
    context = _context_of(session)
    if context is None:
        yield
        return
    group = f"slateval-{uuid.uuid4()}"
    before = [(name, context.getLocalProperty(name)) for name in _PROPERTIES]
    context.setJobGroup(group, f"slateval: {what}", interruptOnCancel=True)
    try:
        with _told(lambda: _tasks_done(context, group), count, progress):
            yield
    except KeyboardInterrupt:
        context.cancelJobGroup(group)
        raise
    finally:
        for name, value in before:
            context.setLocalProperty(name, value)


def _context_of(session: Any) -> Any:
    if "connect" in type(session).__module__:
        return None
    return session.sparkContext


def _tasks_done(context: Any, group: str) -> tuple[int, int]:
    """Tasks done and all tasks of the first stage, which reads."""
    tracker = context.statusTracker()
    jobs = (tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group))
    stages = sorted({stage for job in jobs if job is not None for stage in job.stageIds})
    info = tracker.getStageInfo(stages[0]) if stages else None
    return (info.numCompletedTasks, info.numTasks) if info is not None else (0, 0)


@contextmanager
def _told(look: Callable[[], tuple[int, int]], count: int | None, progress: Any) -> Iterator[None]:
    tell: Tell | None = _print_tasks if progress is True else teller(progress)
    if tell is None:
        yield
        return
    finished = threading.Event()

    def follow() -> None:
        while not finished.wait(PATIENCE):
            done, total = look()
            tell(done, count or total or None)

    thread = threading.Thread(target=follow, name="slateval-progress", daemon=True)
    thread.start()
    try:
        yield
        if count is not None:
            tell(count, count)
    finally:
        finished.set()
        thread.join()


def _print_tasks(done: int, total: int | None) -> None:
    end = "\n" if done == total else ""
    print(f"\rslateval: {done:,} of {total or '?'} tasks", end=end, file=sys.stderr, flush=True)
