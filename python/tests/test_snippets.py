"""Every piece of Python in the documentation runs: on the sample log, and on one too weak for intervals."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import matplotlib as mpl
import numpy as np
import polars as pl
import pytest
import slateval

mpl.use("agg")

ROOT = Path(__file__).parent.parent.parent
FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ROWS = {"sample": 12_000, "weak": 6}


def sample(rows: int) -> pl.DataFrame:
    """The sample log with all columns that the pages speak of."""
    frame = pl.read_parquet(ROOT / "examples" / "slates.parquet").head(rows)
    slots = [pl.col(f"pi_new_{k}").alias(f"pi_{k}") for k in range(1, 6)]
    slots += [pl.col(f"pi_bolder_{k}").alias(f"pi_old_{k}") for k in range(1, 6)]
    country = pl.Series("country", ["DE", "FR"] * rows)[:rows]
    return frame.with_columns(*slots, country, pl.col("reward").alias("clicks"))


def long(frame: pl.DataFrame) -> pl.DataFrame:
    """One row per slot, as OBP has it."""
    parts = [
        frame.select(
            pl.int_range(frame.height).alias("slate_id"),
            pl.lit(k).alias("position"),
            (pl.col("reward") / 5).alias("reward"),
            pl.col(f"mu_{k}").alias("pscore_item_position"),
            pl.col(f"pi_{k}").alias("evaluation_policy_pscore_item_position"),
        )
        for k in range(1, 6)
    ]
    return pl.concat(parts).sort("slate_id", "position")


def names(rows: int) -> dict[str, Any]:
    """What the snippets of docs/python.md take for granted."""
    frame = sample(rows)
    random = np.random.default_rng(1)
    old, new = np.full(4, 0.25), np.array([0.1, 0.2, 0.3, 0.4])
    actions = random.integers(0, 4, (rows, 2))
    ranked = np.array([random.permutation(4)[:2] for _ in range(rows)])
    r, mu, pi = (frame.select(f"^{base}$").to_numpy() for base in ("reward", r"mu_\d", r"pi_\d"))
    today = {"target": {"new": "pi_new"}}
    return {
        "frame": frame,
        "long_frame": long(frame),
        "r": r[:, 0],
        "mu": mu,
        "pi": pi,
        "device": frame["device"],
        "old": old,
        "new": new,
        "contexts": None,
        "actions": actions,
        "ranked": ranked,
        "reward": actions.sum(axis=1).astype(float),
        "scores": np.zeros(4),
        "new_slates": np.array([0, 1]),
        "batches": frame.iter_slices(5000),
        "others": [slateval.Summary(**today)],
        "tasks": SimpleNamespace(),
    }


def python(page: str) -> list[str]:
    return FENCE.findall((ROOT / page).read_text(encoding="utf-8"))


@pytest.fixture(params=ROWS)
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """A folder with `logs/` and `examples/`, in which the snippets run."""
    rows = ROWS[request.param]
    for folder, name in (("logs", "monday.parquet"), ("examples", "slates.parquet")):
        (tmp_path / folder).mkdir()
        sample(rows).write_parquet(tmp_path / folder / name)
    monkeypatch.chdir(tmp_path)
    return rows


@pytest.mark.parametrize("page", ["README.md", "python/README.md", "docs/python.md"])
def test_every_snippet_runs(page: str, place: int) -> None:
    import duckdb

    known = {**names(place), "slateval": slateval, "duckdb": duckdb}
    for number, code in enumerate(python(page), start=1):
        # Rankers that show no item twice have other actions.
        if "pseudo_inverse" in code:
            known["actions"] = known["ranked"]
        exec(compile(code, f"{page}, snippet {number}", "exec"), known)
    assert python(page)


@pytest.mark.filterwarnings("ignore")
def test_the_snippets_for_obp_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """With obp itself, behind the stand-in for torch that the page gives."""
    modules = dict(sys.modules)
    pieces = python("docs/coming-from-obp.md")
    [stand_in] = [code for code in pieces if "class Anything" in code]
    known: dict[str, Any] = {}
    try:
        exec(compile(stand_in, "the stand-in for torch", "exec"), known)
        for number, code in enumerate((code for code in pieces if code != stand_in), start=1):
            exec(compile(code, f"docs/coming-from-obp.md, snippet {number}", "exec"), known)
    finally:
        for name in set(sys.modules) - set(modules):
            if name.partition(".")[0] in ("torch", "obp"):
                del sys.modules[name]
    rewards, mean = known["ev"].log["reward"], known["ev"]["target"].mean
    assert rewards["min"] <= mean.estimate <= rewards["max"]
