"""The peers of slateval, each in a process of its own that compare.py starts.

    python benches/peers.py PEER {sums,mean} FILE THREADS

sums: what is timed. mean: the additive estimate of the mean, by which answers are checked.

Prints as JSON the answer, and the seconds and CPU seconds of the work alone: not those of starting the interpreter, of
imports, of ending, and for data in memory not those of reading the log.
"""

from __future__ import annotations

import json
import resource
import sys
import time
import types
from collections.abc import Callable
from typing import Any

SLOTS = 5
BINS = 1024
RATIOS = " + ".join(f"pi_{slot} / mu_{slot} - 1" for slot in range(1, SLOTS + 1))

begun = (0.0, 0.0)


def clocks() -> tuple[float, float]:
    """CPU seconds of all threads, and seconds."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime, time.monotonic()


def begin() -> None:
    """From here on, time counts."""
    global begun
    begun = clocks()


def duckdb(question: str, path: str, threads: int) -> Any:
    """The additive weight's sums in bins of rewards. DuckDB divides in f32 and sums in f64."""
    import duckdb

    begin()
    connection = duckdb.connect(config={"threads": threads})
    weighted = f"SELECT reward, 1 + {RATIOS} AS g FROM '{path}'"
    if question == "mean":
        return connection.execute(f"SELECT sum(g * reward::DOUBLE) / count(*) FROM ({weighted})").fetchall()[0][0]
    bins = f"CAST(floor(reward * {BINS}) AS INTEGER)"
    return len(
        connection.execute(
            f"SELECT {bins} AS bin, count(*), sum(g), sum(g * g) FROM ({weighted}) GROUP BY 1"
        ).fetchall()
    )


def polars(question: str, path: str, threads: int) -> Any:
    """The same sums, streaming."""
    import polars as pl

    begin()
    log = pl.scan_csv(path) if path.endswith(".csv") else pl.scan_parquet(path)
    g = 1 + sum(
        (pl.col(f"pi_{slot}") / pl.col(f"mu_{slot}") - 1 for slot in range(1, SLOTS + 1)), pl.lit(0.0, pl.Float32)
    )
    if question == "mean":
        product = g.cast(pl.Float64) * pl.col("reward").cast(pl.Float64)
        return log.select(product.mean()).collect(engine="streaming").item()
    bins = (pl.col("reward") * BINS).floor().cast(pl.Int32).alias("bin")
    weighted = log.select(bins, g.alias("g"))
    sums = [pl.len(), pl.col("g").sum(), (pl.col("g") * pl.col("g")).sum().alias("squares")]
    return weighted.group_by("bin").agg(sums).collect(engine="streaming").height


def pyarrow(question: str, path: str, threads: int) -> Any:
    """The same sums in NumPy, from batches that pyarrow reads."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet

    begin()
    pa.set_cpu_count(threads)
    names = [f"{name}_{slot}" for name in ("mu", "pi") for slot in range(1, SLOTS + 1)]
    rows, mean, sums = 0, 0.0, np.zeros((3, BINS))
    for batch in pa.parquet.ParquetFile(path).iter_batches(1 << 16, columns=["reward", *names]):
        column = {name: batch.column(name).to_numpy() for name in ("reward", *names)}
        g = np.ones(batch.num_rows)
        for slot in range(1, SLOTS + 1):
            g += column[f"pi_{slot}"] / column[f"mu_{slot}"] - 1
        rows += batch.num_rows
        if question == "mean":
            mean += float(g @ column["reward"].astype(np.float64))
            continue
        bins = (column["reward"] * BINS).astype(np.int64)
        for total, weights in zip(sums, (None, g, g * g), strict=True):
            total += np.bincount(bins, weights, BINS)
    return mean / rows if question == "mean" else BINS


def arrays(path: str) -> tuple[Any, Any, Any]:
    """Rewards, logging and target propensities in memory, row by row, as f64."""
    import numpy as np
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(path)
    of = {name: [table[f"{name}_{slot}"].to_numpy() for slot in range(1, SLOTS + 1)] for name in ("mu", "pi")}
    mu, pi = (np.stack(of[name], axis=1).astype(np.float64) for name in ("mu", "pi"))
    return table["reward"].to_numpy().astype(np.float64), mu, pi


def numpy(question: str, path: str, threads: int) -> Any:
    """The mean, and the CDF at every reward, of arrays in memory: weights, a stable sort, a cumulative sum."""
    import numpy as np

    reward, mu, pi = arrays(path)
    begin()
    weight = 1 + (pi / mu - 1).sum(axis=1)
    order = np.argsort(reward, kind="stable")
    cdf = np.cumsum(weight[order]) / len(reward)
    assert len(cdf) == len(reward)
    return float((weight * reward).mean())


def slateval(question: str, path: str, threads: int) -> Any:
    """slateval's Python package on the same arrays in memory, with quantiles and tails."""
    import slateval

    reward, mu, pi = arrays(path)
    begin()
    asked = {"structure": "additive", "correction": "none", "band": "none", "threads": threads}
    return float(slateval.evaluate(reward=reward, logging=mu, target=pi, **asked)["target"].mean)


def vw(question: str, path: str, threads: int) -> Any:
    """VW's estimators: the mean by the pseudo-inverse estimator, one slate at a time."""
    from estimators.slates import pseudo_inverse

    reward, mu, pi = (array.tolist() for array in arrays(path))
    begin()
    estimator = pseudo_inverse.Estimator()
    for r, p_logs, p_preds in zip(reward, mu, pi, strict=True):
        estimator.add_example(p_logs, r, p_preds)
    return estimator.get()


def obp(question: str, path: str, threads: int) -> Any:
    """The Open Bandit Pipeline's vectorised slate estimator.

    It weights the reward of each slot by the ratio of that slot. With a slate's reward shared equally among K slots,
    its estimate is the mean of `r sum_k w_k / K`. K times that, less K - 1 times the mean reward, is the additive
    estimate.
    """
    without_torch()
    import numpy as np
    from obp.ope import SlateIndependentIPS

    reward, mu, pi = arrays(path)
    slates = len(reward)
    columns = {
        "slate_id": np.repeat(np.arange(slates), SLOTS),
        "position": np.tile(np.arange(SLOTS), slates),
        "reward": np.repeat(reward, SLOTS) / SLOTS,
        "pscore_item_position": mu.reshape(-1),
        "evaluation_policy_pscore_item_position": pi.reshape(-1),
    }
    begin()
    estimate = SlateIndependentIPS(len_list=SLOTS).estimate_policy_value(**columns)
    return float(SLOTS * estimate - (SLOTS - 1) * reward.mean())


def without_torch() -> None:
    """Lets OBP be imported without the deep-learning library, for which its slate estimators have no use."""
    for name in ("torch", "torch.nn", "torch.nn.functional", "torch.optim", "torch.utils", "torch.utils.data"):
        module = types.ModuleType(name)
        module.__getattr__ = lambda attribute: type(attribute, (), {})  # type: ignore[method-assign]
        sys.modules[name] = module
        parent, _, own = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], own, module)


PEERS: dict[str, Callable[[str, str, int], Any]] = {
    peer.__name__: peer for peer in (duckdb, polars, pyarrow, numpy, slateval, vw, obp)
}

if __name__ == "__main__":
    answer = PEERS[sys.argv[1]](sys.argv[2], sys.argv[3], int(sys.argv[4]))
    cpu, wall = (end - start for start, end in zip(begun, clocks(), strict=True))
    print(json.dumps({"answer": answer, "cpu": cpu, "wall": wall}))
