"""Writes the logs that compare.py measures, always the same ones, a million rows at a time.

    python benches/data.py {contexts,two-valued,distinct,drawn} SHAPE ROWS FILE

SHAPE is wide, lists, ten, hundred, csv, short, short-lists or long.

Five slots of twenty items and continuous rewards, as f32. Parquet is compressed with snappy, in row groups of a million
rows.

contexts: two softmax policies in a thousand contexts, so each column has twenty thousand different propensities. Items
are drawn uniformly, not by the logging policy: the log is made for its cost, and its estimates mean nothing.
two-valued: uniform logging, an epsilon-greedy target.
distinct: every row has propensities of its own. Too many for a dictionary, they are stored as they are.
drawn: as contexts, but items are drawn by the logging policy, as in a true log.

wide: mu_1 … mu_5, pi_1 … pi_5, and a column with 100 segments. lists: the same as lists mu and pi. ten and hundred: as
many targets, pi_1 …, pi2_1 … and so on. csv: wide, as text. short and short-lists: wide and lists, but three slates in
ten have four slots. long: one row for each slot.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

SLOTS = 5
ITEMS = 20
CONTEXTS = 1000
SEGMENTS = 100
TARGETS = {"ten": 10, "hundred": 100}
CHUNK = 1_000_000
# Which slates lack their last slot, row by row, for ever.
SHORT = np.array([False, True, False, False, True, False, False, True, False, False])


def softmax(random: np.random.Generator, sharpness: float) -> np.ndarray:
    """A policy: for each context and slot, the probability of each item."""
    scores = np.exp(sharpness * random.standard_normal((CONTEXTS, SLOTS, ITEMS)))
    return (scores / scores.sum(axis=2, keepdims=True)).astype(np.float32)


def draw(random: np.random.Generator, policy: np.ndarray, context: np.ndarray) -> np.ndarray:
    """An item for each context, by a policy of one slot."""
    below = random.random(len(context), dtype=np.float32)[:, None] >= policy.cumsum(axis=1)[context, :-1]
    return below.sum(axis=1)


def propensities(kind: str, targets: int) -> Iterator[dict[str, np.ndarray]]:
    """A million slates at a time, for ever: rewards, segments, propensities as arrays of slot and row."""
    random = np.random.default_rng(1)
    logging = softmax(random, 0.5)
    policies = [softmax(random, 1.0)]
    policies += [softmax(np.random.default_rng(1 + target), 1.0) for target in range(1, targets)]
    while True:
        context = random.integers(0, CONTEXTS, CHUNK)
        reward = random.random(CHUNK, dtype=np.float32)
        if kind == "drawn":
            items = [draw(random, logging[:, slot], context) for slot in range(SLOTS)]
        else:
            items = [random.integers(0, ITEMS, CHUNK) for _ in range(SLOTS)]
        chunk = {"reward": reward, "segment": context % SEGMENTS}
        for target in range(targets):
            if kind == "two-valued":
                pi = [np.where(item == target, np.float32(0.81), np.float32(0.01)) for item in items]
            elif kind == "distinct":
                pi = list(random.random((SLOTS, CHUNK), dtype=np.float32))
            else:
                pi = [policies[target][context, slot, item] for slot, item in enumerate(items)]
            chunk["pi" if target == 0 else f"pi{target + 1}"] = np.stack(pi)
        if kind == "two-valued":
            chunk["mu"] = np.full((SLOTS, CHUNK), 1 / ITEMS, dtype=np.float32)
        elif kind == "distinct":
            chunk["mu"] = 0.1 + 0.8 * random.random((SLOTS, CHUNK), dtype=np.float32)
        else:
            chunk["mu"] = np.stack([logging[context, slot, item] for slot, item in enumerate(items)])
        yield chunk


def table(chunk: dict[str, np.ndarray], rows: int, shape: str) -> pa.Table:
    if shape == "long":
        return long_table(chunk, rows)
    names = pa.array([f"segment {segment}" for segment in range(SEGMENTS)])
    short = np.resize(SHORT, rows) if shape.startswith("short") else np.zeros(rows, dtype=bool)
    columns = {"reward": chunk["reward"][:rows]}
    for name in sorted(chunk.keys() - {"reward", "segment"}):
        values = chunk[name][:, :rows]
        if shape.endswith("lists"):
            columns[name] = lists(values, short)
            continue
        columns |= {f"{name}_{slot + 1}": values[slot] for slot in range(SLOTS)}
        if short.any():
            columns[f"{name}_{SLOTS}"] = pa.array(values[-1], mask=short)
    if shape == "wide":
        segments = pa.array(chunk["segment"][:rows].astype(np.int32))
        columns["segment"] = pa.DictionaryArray.from_arrays(segments, names).cast(pa.string())
    return pa.table(columns)


def lists(values: np.ndarray, short: np.ndarray) -> pa.ListArray:
    """A list for each row; some lack the last item."""
    lengths = np.where(short, SLOTS - 1, SLOTS)
    ends = np.concatenate([[0], lengths.cumsum()]).astype(np.int32)
    items = values.T[np.arange(SLOTS) < lengths[:, None]]
    return pa.ListArray.from_arrays(pa.array(ends), pa.array(items))


def long_table(chunk: dict[str, np.ndarray], rows: int) -> pa.Table:
    """A row for each slot, as the Open Bandit Pipeline has them. The first slot has the reward."""
    rewards = np.zeros((rows, SLOTS), dtype=np.float32)
    rewards[:, 0] = chunk["reward"][:rows]
    columns = {
        "slate_id": np.repeat(np.arange(rows), SLOTS),
        "position": np.tile(np.arange(1, SLOTS + 1, dtype=np.int32), rows),
        "reward": rewards.reshape(-1),
        "pscore_item_position": chunk["mu"][:, :rows].T.reshape(-1),
        "evaluation_policy_pscore_item_position": chunk["pi"][:, :rows].T.reshape(-1),
    }
    return pa.table(columns)


def write(kind: str, shape: str, rows: int, path: Path) -> None:
    # Under another name until it is whole: a log that is kept is used again.
    partial = path.with_suffix(".partial")
    writer = None
    chunks = propensities(kind, TARGETS.get(shape, 1))
    for start in range(0, rows, CHUNK):
        part = table(next(chunks), min(CHUNK, rows - start), shape)
        if writer is None and shape == "csv":
            writer = pa.csv.CSVWriter(partial, part.schema)
        elif writer is None:
            writer = pa.parquet.ParquetWriter(partial, part.schema, compression="snappy")
        writer.write_table(part)
    assert writer is not None, "a log has rows"
    writer.close()
    os.replace(partial, path)


if __name__ == "__main__":
    write(sys.argv[1], sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]))
