"""What a cluster costs: file tasks and DataFrames on Spark beside one process, parts, and merging ten thousand of them.

    python3 -m venv .venv && .venv/bin/pip install -r python/requirements-engines.txt maturin
    VIRTUAL_ENV=.venv .venv/bin/maturin develop --release --manifest-path python/Cargo.toml
    .venv/bin/python benches/scaling.py --write docs/scaling.md

Everything runs on this machine, in turns, and the best turn counts. Spark's times are those of a job in a session that
has done one before: neither the session's start nor that of its Python processes is in them.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "benches"), str(ROOT / "python" / "tests" / "engines")]
FILES = 40
PARTS = 10_000
FAN_IN = 16
CORES = 200
"""Cores of the cluster that the last table speaks of."""


def seconds(work: Callable[[], Any]) -> float:
    start = time.monotonic()
    work()
    return time.monotonic() - start


def make_log(folder: Path, rows: int) -> str:
    """So many rows in forty files that are alike: they are made for their cost."""
    import data

    place = folder / f"scaling-{rows}"
    if not place.exists():
        place.mkdir(parents=True)
        data.write("contexts", "wide", rows // FILES, place / "00.parquet")
        for file in range(1, FILES):
            shutil.copy(place / "00.parquet", place / f"{file:02}.parquet")
    return str(place)


def throughput(log: str, turns: int) -> tuple[list[tuple[str, float]], list[float]]:
    """Seconds of each way to read the log, and of reading one of its files by Spark."""
    import slateval
    import slateval.spark
    from pyspark.sql import SparkSession
    from spark_cluster import Cluster

    def spark_times(name: str, session: Any) -> list[tuple[str, float]]:
        session.sparkContext.setLogLevel("ERROR")
        frame = session.read.parquet(log)
        ways = {
            f"Spark, {name}, paths": lambda: slateval.spark.evaluate(log, spark=session),
            f"Spark, {name}, DataFrame": lambda: slateval.spark.evaluate(frame),
        }
        for way in ways.values():
            way()
        return [(what, min(seconds(way) for _ in range(turns))) for what, way in ways.items()]

    def beginnings(session: Any) -> list[float]:
        """Seconds of one file of the forty, as paths and as a DataFrame: most of it is Spark's own."""
        file = f"{log}/00.parquet"
        frame = session.read.parquet(file)
        ways = [lambda: slateval.spark.evaluate(file, spark=session), lambda: slateval.spark.evaluate(frame)]
        return [min(seconds(way) for _ in range(turns + 1)) for way in ways]

    def alone(threads: int) -> float:
        return min(seconds(lambda: slateval.evaluate(log, threads=threads)) for _ in range(turns))

    os.environ["PYSPARK_PYTHON"] = sys.executable
    found = [("one process, one thread", alone(1)), ("one process, two threads", alone(2))]
    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    builder = SparkSession.builder.master("local[2]")
    for setting in quiet.items():
        builder = builder.config(*setting)
    session = builder.getOrCreate()
    found += spark_times("`local[2]`", session)
    one_file = beginnings(session)
    session.stop()
    folder = Path(log).parent / "cluster"
    folder.mkdir(exist_ok=True)
    cluster = Cluster(folder)
    try:
        for workers in (1, 2):
            session = cluster.session(**{"spark.cores.max": str(workers)})
            found += spark_times(f"standalone, {workers} executor{'s' if workers > 1 else ''}", session)
            session.stop()
    finally:
        cluster.stop()
    found.append(("one process, two threads, again", alone(2)))
    return found, one_file


def part_sizes(rows: int) -> list[tuple[str, int]]:
    """Bytes of parts of so many rows."""
    import numpy as np
    import slateval

    random = np.random.default_rng(1)
    mu, pi = random.uniform(0.1, 0.3, (2, rows, 5))
    log = {"reward": random.random(rows), "mu": mu, "pi": pi, "user": random.integers(0, 10**6, rows)}
    log |= {
        "device": random.integers(0, 8, rows),
        "chi": random.uniform(0.5, 2, (rows, 5)),
        "click": random.random(rows) < 0.1,
    }
    cases: dict[str, dict[str, Any]] = {
        "default": {},
        "default, clicks as rewards": {"reward": "click"},
        "with chi": {"chi": "chi"},
        "with clusters": {"cluster": "user"},
        "8 segments": {"by": "device"},
    }
    sizes = []
    for name, settings in cases.items():
        summary = slateval.Summary(**settings)
        summary.add({column: values for column, values in log.items() if column != "chi" or name == "with chi"})
        sizes.append((name, len(summary._filled().to_bytes())))
    return sizes


MERGE = """
import resource, sys, time
import numpy as np, slateval
from slateval import _slateval
rows, parts, fan_in = 300_000, int(sys.argv[1]), int(sys.argv[2])
def part(seed):
    random = np.random.default_rng(seed)
    mu, pi = random.uniform(0.1, 0.3, (2, rows, 5))
    summary = slateval.Summary()
    summary.add({"reward": random.random(rows), "mu": mu, "pi": pi})
    return summary._filled().to_bytes()
known = [part(seed) for seed in range(4)]
start, level = time.process_time(), (known[i % len(known)] for i in range(parts))
def merged(level):
    merger, held = _slateval.Merger(True), 0
    for sent in level:
        merger.add(_slateval.Summary.from_bytes(sent))
        held += 1
        if held == fan_in:
            yield merger.finish().to_bytes()
            held = 0
    if held:
        yield merger.finish().to_bytes()
while parts > 1:
    level, parts = merged(level), -(-parts // fan_in)
rows_in_all = slateval.Summary.from_bytes(next(level)).rows
print(time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, rows_in_all)
"""


def merging() -> tuple[float, float]:
    """CPU seconds and peak megabytes of one process that merges ten thousand parts in a tree."""
    command = [sys.executable, "-W", "ignore", "-c", MERGE, str(PARTS), str(FAN_IN)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    cpu, peak, rows = map(float, done.stdout.split())
    assert rows == PARTS * 300_000
    return cpu, peak


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def prediction(begin: list[float], nanoseconds: list[float], merge: float) -> str:
    """What the measured costs make of larger logs: a beginning, and core time for each slate."""

    def told(value: float) -> str:
        return f"{value:.0f} s" if value < 120 else f"{value / 60:.0f} min" if value < 7200 else f"{value / 3600:.1f} h"

    rows = []
    for slates in (1e9, 1e11):
        size = slates * 25
        tasks = min(size / 2**26, max(256, size / 2**28), 10_000)
        cells = [f"{slates:.0e}".replace("e+", "e"), f"{size / 1e9:,.0f} GB", f"{tasks:,.0f}"]
        cells += [
            told(own + slates * cost * 1e-9 / min(CORES, tasks)) for own, cost in zip(begin, nanoseconds, strict=True)
        ]
        rows.append([*cells, told(tasks * merge / CORES + FAN_IN * 3 * merge)])
    return table(["slates", "files", "tasks", "paths", "DataFrame", "merging"], rows)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rows", type=int, default=20_000_000)
    arguments.add_argument("--turns", type=int, default=3)
    arguments.add_argument("--folder", type=Path, default=Path("target/benches"))
    arguments.add_argument("--write", type=Path, help="the page whose table is replaced")
    given = arguments.parse_args()
    warnings.simplefilter("ignore")

    cpu, peak = merging()
    sizes = part_sizes(1_000_000)
    times, one_file = throughput(make_log(given.folder, given.rows), given.turns)
    fastest = dict(times)["one process, two threads"]
    whole = [dict(times)[f"Spark, `local[2]`, {way}"] for way in ("paths", "DataFrame")]
    others = given.rows * (FILES - 1) / FILES
    cost = [2e9 * (all_files - one) / others for all_files, one in zip(whole, one_file, strict=True)]
    lines = [
        f"Measured with `python benches/scaling.py` on {os.cpu_count()} cores, best of {given.turns} turns, "
        f"{given.rows:,} slates of five slots in {FILES} files, default method with bands.",
        "",
        table(
            ["", "seconds", "million slates a second", "of one process with two threads"],
            [
                [what, f"{used:.2f}", f"{given.rows / used / 1e6:.1f}", f"{100 * fastest / used:.0f}%"]
                for what, used in times
            ],
        ),
        "",
        "A part of a million slates, one target, five slots:",
        "",
        table(
            ["", "bytes"],
            [[what, f"{size / 1e6:.2f} MB"] for what, size in sizes],
        ),
        "",
        f"{PARTS:,} parts of the default, merged in a tree by one process: {cpu:.1f} CPU seconds, that is "
        f"{1e3 * cpu / PARTS:.1f} ms a part, and {peak:.0f} MB at the peak.",
        "",
        f"One file of the {FILES} takes {one_file[0]:.2f} s as a path and {one_file[1]:.2f} s as a DataFrame, most of "
        f"it Spark's own beginning; each further slate {cost[0]:.0f} and {cost[1]:.0f} ns of a core. What that "
        f"predicts for {CORES} cores, with files of 25 bytes a slate, where storage and network keep up:",
        "",
        prediction(one_file, cost, cpu / PARTS),
    ]
    text = "\n".join(lines)
    print(text)
    if given.write:
        from compare import write

        write(given.write, {"scaling": text})


if __name__ == "__main__":
    main()
