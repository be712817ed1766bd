"""Threads, progress, Ctrl-C, memory."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pyarrow as pa
import pytest
import slateval
from conftest import Log

not_on_windows = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals and resource limits")


def test_progress(parquet: str, log: Log) -> None:
    told: list[tuple[int, int | None]] = []
    slateval.evaluate(parquet, progress=lambda rows, total: told.append((rows, total)))
    assert told[-1] == (5000, 5000)
    told.clear()
    slateval.evaluate(pa.table(log.columns()), progress=lambda rows, total: told.append((rows, total)))
    assert told[-1] == (5000, None)

    class Bar:
        n = 0
        total: int | None = None

        def update(self, rows: int) -> None:
            self.n += rows

    bar = Bar()
    slateval.evaluate(parquet, progress=bar)
    assert (bar.n, bar.total) == (5000, 5000)


def test_a_printed_bar(parquet: str, capsys: pytest.CaptureFixture[str]) -> None:
    slateval.evaluate(parquet, progress=True)
    assert "5,000 of 5,000 rows\n" in capsys.readouterr().err


def test_what_a_progress_function_raises_ends_it(log: Log) -> None:
    def stop(rows: int, total: int | None) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        slateval.evaluate(pa.table(log.columns()), progress=stop)


def test_other_threads_run_meanwhile() -> None:
    # So many that it takes a hundred milliseconds and more.
    big = Log(3_000_000)
    ticks = 0
    done = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    slateval.evaluate(reward=big.reward, logging=big.mu, target=big.pi)
    done.set()
    thread.join()
    assert ticks > 20


def test_threads_evaluate_side_by_side(log: Log) -> None:
    from concurrent.futures import ThreadPoolExecutor

    def mean(_: int) -> float:
        return float(slateval.evaluate(reward=log.reward, logging=log.mu, target=log.pi)["target"].mean)

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(mean, range(8)))) == 1


ENDLESS = """
import itertools, sys
import numpy as np
import slateval
n = 100_000
slots = [f"{{b}}_{{k}}" for b in ("mu", "pi") for k in range(1, 6)]
frame = {{"reward": np.random.random(n), **{{slot: np.full(n, .5) for slot in slots}}}}
print("ready", flush=True)
slateval.evaluate({data}, {more})
"""


@not_on_windows
@pytest.mark.parametrize(
    ("data", "more"),
    [
        ("itertools.repeat(frame)", ""),
        ("frame", 'draws=1_000_000, structure="auto"'),
    ],
)
def test_ctrl_c_ends_it(data: str, more: str) -> None:
    code = textwrap.dedent(ENDLESS).format(data=data, more=more)
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    time.sleep(2.0)
    assert process.poll() is None, "it was done before it could be interrupted"
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=30)
    assert "KeyboardInterrupt" in stderr


@not_on_windows
def test_streams_stay_streams() -> None:
    """Ten times the rows, the same memory."""
    code = """
        import resource, sys
        import numpy as np
        import slateval
        n = 50_000
        random = np.random.default_rng(1)
        frame = {"reward": random.random(n), **{f"{b}_{k}": np.full(n, .5) for b in ("mu", "pi") for k in range(1, 6)}}
        for count in (10, 100):
            slateval.evaluate((frame for _ in range(count)), structure="additive", band="none")
            # macOS counts bytes, Linux kilobytes.
            print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "darwin" else 1))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    few, many = map(int, done.stdout.split())
    assert many < few + 60_000, done.stdout


def test_importing_imports_no_large_library() -> None:
    code = "import sys, slateval; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    large = {"dask", "duckdb", "matplotlib", "numpy", "pandas", "polars", "pyarrow", "pyspark", "ray", "sklearn"}
    assert large & set(done.stdout.split()) <= {"numpy"}, done.stdout


def test_arrays_are_not_copied() -> None:
    values = np.random.default_rng(1).random((1000, 3))
    table = slateval.Table.from_arrays([("x", values, None)])
    column = pa.table(table)["x"].chunk(0)
    assert column.values.buffers()[1].address == values.__array_interface__["data"][0]
    del values
    assert len(table) == 1000
