"""How fast `slateval evaluate` reads Parquet, beside DuckDB doing less.

DuckDB computes only the additive weight's sums in 1024 bins of rewards; slateval does the same pass with its default
correction, every sum that the evaluation needs, and the evaluation itself. Both read the same file with the same
number of threads, in turns, and the best of the turns counts.

    python3 -m venv .venv && .venv/bin/pip install -r benches/requirements.txt
    cargo build --release
    .venv/bin/python benches/parquet.py
"""

import argparse
import os
import subprocess
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

SLOTS = 5
ITEMS = 20
CONTEXTS = 1000
CHUNK = 1_000_000
BINARY = Path(__file__).parent.parent / "target" / "release" / "slateval"


def softmax(random: np.random.Generator, sharpness: float) -> np.ndarray:
    """A policy: for each context and slot, the probability of each item."""
    scores = np.exp(sharpness * random.standard_normal((CONTEXTS, SLOTS, ITEMS)))
    return (scores / scores.sum(axis=2, keepdims=True)).astype(np.float32)


def write_log(path: Path, rows: int, kind: str) -> None:
    """Five slots of twenty items and continuous rewards; f32 and snappy, row groups of a million rows.

    contexts: two softmax policies in a thousand contexts, so each column has twenty thousand different propensities.
    two-valued: uniform logging, an epsilon-greedy target. random: every propensity is different.
    """
    random = np.random.default_rng(1)
    logging, target = softmax(random, 0.5), softmax(random, 1.0)
    writer = None
    for start in range(0, rows, CHUNK):
        size = min(CHUNK, rows - start)
        context = random.integers(0, CONTEXTS, size)
        columns = {"reward": random.random(size, dtype=np.float32)}
        for slot in range(SLOTS):
            item = random.integers(0, ITEMS, size)
            if kind == "contexts":
                mu, pi = logging[context, slot, item], target[context, slot, item]
            elif kind == "two-valued":
                mu = np.full(size, 1 / ITEMS, dtype=np.float32)
                pi = np.where(item == 0, np.float32(0.81), np.float32(0.01))
            else:
                mu = 0.05 + 0.95 * random.random(size, dtype=np.float32)
                pi = random.random(size, dtype=np.float32)
            columns[f"mu_{slot + 1}"], columns[f"pi_{slot + 1}"] = mu, pi
        table = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, table.schema, compression="snappy")
        writer.write_table(table)
    writer.close()


def peak_memory(pid: int) -> float:
    """The peak of a process's resident memory in MB: its own account, for rusage counts this process's before exec."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return 0.0
    lines = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return int(lines[0].split()[1]) / 1024 if lines else 0.0


def run_slateval(path: Path, threads: int) -> tuple[float, float]:
    """Seconds, and the peak of resident memory in MB."""
    command = [BINARY, "evaluate", path, "--structure", "additive", "--band", "none", "--threads", str(threads)]
    memory = 0.0
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        memory = max(memory, peak_memory(process.pid))
        time.sleep(0.002)
    seconds = time.perf_counter() - start
    assert process.returncode == 0
    return seconds, memory


def run_duckdb(path: Path, threads: int) -> float:
    ratios = " + ".join(f"pi_{k} / mu_{k} - 1" for k in range(1, SLOTS + 1))
    query = f"""
        SELECT CAST(floor(reward * 1024) AS INTEGER) AS bin, count(*), sum(g), sum(g * g)
        FROM (SELECT reward, 1 + {ratios} AS g FROM read_parquet('{path}')) GROUP BY bin"""
    connection = duckdb.connect(config={"threads": threads})
    start = time.perf_counter()
    assert connection.execute(query).fetchall()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--kind", choices=["contexts", "two-valued", "random"], default="contexts")
    parser.add_argument("--folder", type=Path, help="keep the logs here and use them again")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        small, large = (folder / f"{arguments.kind}-{rows}.parquet" for rows in (arguments.rows // 10, arguments.rows))
        for path, rows in ((small, arguments.rows // 10), (large, arguments.rows)):
            if not path.exists():
                write_log(path, rows, arguments.kind)
        _, small_memory = run_slateval(small, arguments.threads)
        ours, theirs, memory = [], [], 0.0
        for _ in range(arguments.turns):
            seconds, memory = run_slateval(large, arguments.threads)
            ours.append(seconds)
            theirs.append(run_duckdb(large, arguments.threads))
    rate = arguments.rows / 1e6
    print(
        f"{arguments.rows:,} rows, {SLOTS} slots, {large.name}, {arguments.threads} threads, best of {arguments.turns}"
    )
    print(f"slateval, whole evaluation:  {min(ours):6.2f} s  {rate / min(ours):6.1f} million rows/s")
    print(f"DuckDB {duckdb.__version__}, binned sums:   {min(theirs):6.2f} s  {rate / min(theirs):6.1f} million rows/s")
    print(f"ratio of times, slateval / DuckDB: {min(ours) / min(theirs):.2f}")
    print(f"peak memory: {memory:.0f} MB, at a tenth of the rows {small_memory:.0f} MB")


if __name__ == "__main__":
    main()
