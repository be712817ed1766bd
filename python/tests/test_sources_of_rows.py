"""The same rows give the same numbers, whichever way they come."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
import slateval
from conftest import Log

TARGETS = {"new": "pi", "old": "pi_old"}
SETTINGS: dict[str, Any] = {"target": TARGETS, "by": "device", "baseline": "old"}


def numbers(document: Any, path: str = "") -> dict[str, Any]:
    """Every leaf of a document, by its path."""
    if isinstance(document, dict):
        parts = document.items()
    elif isinstance(document, list):
        parts = enumerate(document)
    else:
        return {path: document}
    return {key: leaf for name, part in parts for key, leaf in numbers(part, f"{path}/{name}").items()}


def same(one: slateval.Evaluation, other: slateval.Evaluation) -> None:
    """Equal to 1e-12 in everything but where the rows came from."""
    first, second = one.to_dict(full_cdf=True), other.to_dict(full_cdf=True)
    for document in (first, second):
        for key in ("log", "summary"):
            document["settings"].pop(key, None)
        del document["log"]["inputs"]
    a, b = numbers(first), numbers(second)
    assert a.keys() == b.keys()
    for path, value in a.items():
        if path.endswith(("message", "reason")):
            continue
        if isinstance(value, float) and isinstance(b[path], float):
            assert b[path] == pytest.approx(value, rel=1e-12, abs=1e-12), path
        else:
            assert b[path] == value, path


@pytest.fixture(scope="module")
def reference(parquet: str) -> slateval.Evaluation:
    return slateval.evaluate(parquet, **SETTINGS)


def in_one_voice(text: str) -> str:
    """JSON whose advice names settings in one way: flags become keyword arguments."""
    return text.replace("--target-slots joint", 'target_slots=\\"joint\\"')


def test_the_json_is_that_of_the_command_line(parquet: str, binary: Path, reference: slateval.Evaluation) -> None:
    flags = ["--target", "new=pi", "--target", "old=pi_old", "--by", "device", "--baseline", "old", "--json", "-"]
    done = subprocess.run([binary, "evaluate", parquet, *flags], capture_output=True, text=True, check=True)
    assert in_one_voice(done.stdout) == in_one_voice(reference.to_json())
    flags = ["--target", "new=pi", "--target", "old=pi_old", "--by", "device", "--baseline", "old", "--full"]
    done = subprocess.run([binary, "evaluate", parquet, *flags], capture_output=True, text=True, check=True)
    # Lines break elsewhere where advice is longer.
    words = done.stdout.replace("--target-slots\njoint", "--target-slots joint")
    words = words.replace("--target-slots joint", 'target_slots="joint"')
    assert words.split() == str(reference).split()


def test_frames(log: Log, reference: slateval.Evaluation) -> None:
    table = pa.table(log.columns())
    frames = {
        "pandas": pd.DataFrame(log.columns()),
        "polars": pl.DataFrame(log.columns()),
        "lazy": pl.DataFrame(log.columns()).lazy(),
        "table": table,
        "chunks": pa.concat_tables([table.slice(0, 1), table.slice(1, 700), table.slice(701)]),
        "batch": table.combine_chunks().to_batches()[0],
        "reader": pa.RecordBatchReader.from_batches(table.schema, iter(table.to_batches(max_chunksize=99))),
        "dataset": ds.dataset(table),
        "batches": iter(table.to_batches(max_chunksize=512)),
        "frames": (pl.DataFrame(log.columns())[start : start + 900] for start in range(0, 5000, 900)),
        "dict": log.columns(),
    }
    for name, frame in frames.items():
        try:
            same(reference, slateval.evaluate(frame, **SETTINGS))
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from error


def test_duckdb_streams(parquet: str, reference: slateval.Evaluation) -> None:
    connection = duckdb.connect()
    relation = connection.sql(f"SELECT * FROM read_parquet('{parquet}')")
    same(reference, slateval.evaluate(relation, **SETTINGS))


def test_scanned_lazy_frames(parquet: str, reference: slateval.Evaluation) -> None:
    same(reference, slateval.evaluate(pl.scan_parquet(parquet), **SETTINGS))


def test_lists(log: Log, reference: slateval.Evaluation) -> None:
    columns = {"reward": log.reward, "device": log.device}
    lists = {"mu": log.mu.tolist(), "pi": log.pi.tolist(), "pi_old": log.pi_old.tolist()}
    for frame in (pl.DataFrame(columns | lists), pa.table(columns | lists), pd.DataFrame(columns | lists)):
        same(reference, slateval.evaluate(frame, **SETTINGS))
    fixed = {name: pl.Series(name, np.array(values), dtype=pl.Array(pl.Float64, 3)) for name, values in lists.items()}
    same(reference, slateval.evaluate(pl.DataFrame(columns | fixed), **SETTINGS))


def test_arrays_of_any_layout(log: Log, reference: slateval.Evaluation) -> None:
    def evaluate(change: Any) -> slateval.Evaluation:
        return slateval.evaluate(
            reward=log.reward,
            logging=change(log.mu),
            target={"new": change(log.pi), "old": change(log.pi_old)},
            by=log.device,
            baseline="old",
        )

    def strided(values: np.ndarray) -> np.ndarray:
        wide = np.zeros((5000, 6))
        wide[:, ::2] = values
        return wide[:, ::2]

    layouts = {
        "C": np.ascontiguousarray,
        "F": np.asfortranarray,
        "strided": strided,
        "reversed": lambda a: np.ascontiguousarray(a[::-1])[::-1],
        "swapped": lambda a: a.astype(">f8"),
        "lists": lambda a: a.tolist(),
        "frame": pd.DataFrame,
    }
    for name, layout in layouts.items():
        found = evaluate(layout).to_dict()
        for one, other in zip(reference.to_dict()["policies"], found["policies"], strict=True):
            assert other["mean"]["estimate"] == pytest.approx(one["mean"]["estimate"], rel=1e-12), name
            assert other["cdf"]["estimate"] == pytest.approx(one["cdf"]["estimate"], rel=1e-12, abs=1e-12), name
            assert other["cvar"][1]["lower"] == pytest.approx(one["cvar"][1]["lower"], rel=1e-12), name


def test_single_precision(log: Log, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    single = {name: v.astype(np.float32) if v.dtype == np.float64 else v for name, v in log.columns().items()}
    path = str(tmp_path / "f32.parquet")
    pq.write_table(pa.table(single), path)
    arrays = {"reward": log.reward, "logging": log.mu, "target": log.pi}
    found = slateval.evaluate(**{name: a.astype(np.float32) for name, a in arrays.items()})
    wanted = slateval.evaluate(path)
    assert float(found["target"].mean) == pytest.approx(float(wanted["target"].mean), rel=1e-12)


def test_merged_summaries(log: Log, parquet: str, reference: slateval.Evaluation) -> None:
    frame = pl.DataFrame(log.columns())
    total = slateval.Summary(**SETTINGS)
    for start in range(0, 5000, 1700):
        part = slateval.Summary(**SETTINGS)
        part.add(frame[start : start + 1700])
        total = total.merge(part)
    assert total.rows == 5000
    same(reference, total.evaluate())
    tasks = slateval.plan(parquet, **SETTINGS)
    same(reference, slateval.merge(map(slateval.partial, tasks)).evaluate())


def test_long_logs(log: Log) -> None:
    rows = np.repeat(np.arange(5000), 3)
    frame = pl.DataFrame(
        {
            "slate_id": rows,
            "position": np.tile(np.arange(3), 5000),
            "reward": np.where(np.tile(np.arange(3), 5000) == 0, np.repeat(log.reward, 3), 0.0),
            "pscore_item_position": log.mu.reshape(-1),
            "evaluation_policy_pscore_item_position": log.pi.reshape(-1),
        }
    )
    wanted = slateval.evaluate(reward=log.reward, logging=log.mu, target=log.pi)
    parts = (frame[start : start + 1001] for start in range(0, len(frame), 1001))
    for data in (frame, parts):
        found = slateval.evaluate(data, long=True)
        assert float(found["target"].mean) == pytest.approx(float(wanted["target"].mean), rel=1e-12)
        assert found["target"].cdf["estimate"] == pytest.approx(wanted["target"].cdf["estimate"], abs=1e-12)


def test_slates_of_different_lengths(log: Log) -> None:
    mu, pi = log.mu.copy(), log.pi.copy()
    short = np.arange(5000) % 3 == 0
    mu[short, 2], pi[short, 2] = np.nan, np.nan
    lists = {"mu": [[p for p in row if p == p] for row in mu], "pi": [[p for p in row if p == p] for row in pi]}
    wanted = slateval.evaluate(pl.DataFrame({"reward": log.reward, **lists}))
    by_nan = slateval.evaluate(reward=log.reward, logging=mu, target=pi)
    masked = slateval.evaluate(
        reward=log.reward, logging=np.ma.masked_invalid(mu), target=np.ma.masked_invalid(np.asfortranarray(pi))
    )
    in_pandas = slateval.evaluate(
        pd.DataFrame(
            {"reward": log.reward} | {f"{b}_{k + 1}": a[:, k] for b, a in (("mu", mu), ("pi", pi)) for k in range(3)}
        )
    )
    for found in (by_nan, masked, in_pandas):
        assert float(found["target"].mean) == pytest.approx(float(wanted["target"].mean), rel=1e-12)


def test_chi_and_clusters(log: Log) -> None:
    frame = pl.DataFrame(log.columns()).with_columns(**{f"chi_{k + 1}": pl.Series(log.chi[:, k]) for k in range(3)})
    one = slateval.evaluate(frame, cluster="user")
    two = slateval.evaluate(reward=log.reward, logging=log.mu, target=log.pi, chi=log.chi, cluster=log.user)
    assert one["target"].correction == two["target"].correction == "calibrated"
    assert two["target"].mean.lower == pytest.approx(one["target"].mean.lower, rel=1e-12)


def without_history(path: Path) -> tuple[dict[str, Any], bytes]:
    """A saved summary without the command that made it: its header and its sums."""
    data = path.read_bytes()
    end = 20 + int.from_bytes(data[12:20], "little")
    header = json.loads(data[20:end])
    header.pop("history", None)
    return header, data[end:-4]


def test_a_file_of_the_past(log: Log, parquet: str, tmp_path: Path, binary: Path) -> None:
    saved = tmp_path / "log.slateval"
    flags = ["--target", "new=pi", "--save", saved]
    subprocess.run([binary, "evaluate", parquet, *flags], capture_output=True, check=True)
    ev = slateval.evaluate(parquet, target={"new": "pi"})
    same(ev, slateval.load(saved))
    mine = tmp_path / "mine.slateval"
    ev.save(mine)
    assert without_history(mine) == without_history(saved)
    done = subprocess.run([binary, "show", mine, "--json", "-"], capture_output=True, text=True, check=True)
    assert json.loads(in_one_voice(done.stdout))["policies"] == json.loads(in_one_voice(ev.to_json()))["policies"]


def test_big_streams_on_many_threads() -> None:
    big = Log(600_000, seed=3)
    arrays: dict[str, Any] = {"reward": big.reward, "logging": big.mu, "target": big.pi, "structure": "additive"}
    one = slateval.evaluate(**arrays, threads=1, draws=200)
    three = slateval.evaluate(**arrays, threads=3, draws=200)
    assert one.to_json() == three.to_json()
    table = pa.table(big.columns())
    batches = slateval.evaluate(iter(table.to_batches(max_chunksize=10_000)), structure="additive", draws=200)
    assert float(batches["target"].mean) == pytest.approx(float(one["target"].mean), rel=1e-12)
    assert batches["target"].cdf["estimate"] == pytest.approx(one["target"].cdf["estimate"], abs=1e-12)
